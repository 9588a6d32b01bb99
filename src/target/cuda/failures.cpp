#include "target/cuda/failures.hpp"

#include <cstdio>

namespace cosmic::target::cuda {
namespace {

std::string gigabytes(std::int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GB", static_cast<double>(bytes) / 1e9);
  return text;
}

}  // namespace

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string name_of(const DeviceFacts& device) {
  return "device " + std::to_string(device.ordinal) + " (" + device.name + ")";
}

Support availability(const Presence& presence) {
  switch (presence.answer.kind) {
    case Answer::Kind::ok:
      if (presence.devices > 0) {
        return Support::yes();
      }
      break;
    case Answer::Kind::no_device:
      break;
    case Answer::Kind::no_driver:
      return Support::no(
          "there is no NVIDIA driver on this machine; run where there is one, or install it");
    case Answer::Kind::driver_too_old:
      return Support::no("the NVIDIA driver is too old: it supports CUDA " +
                         version_text(presence.driver_version) +
                         ", and this program was built with CUDA " +
                         version_text(presence.runtime_version) +
                         "; update the driver, or build with a CUDA that it supports");
    case Answer::Kind::out_of_memory:
    case Answer::Kind::device_lost:
    case Answer::Kind::failed:
      return Support::no("CUDA does not start: " + presence.answer.text +
                         "; `nvidia-smi` may say more");
  }
  if (presence.visible_devices) {
    return Support::no("the NVIDIA driver shows no GPU to this process (CUDA_VISIBLE_DEVICES is '" +
                       *presence.visible_devices + "'); name one there, or leave it unset");
  }
  return Support::no(
      "there is an NVIDIA driver but no GPU that it knows; `nvidia-smi` lists those that it does");
}

Support availability(const DeviceFacts& device) {
  if (device.major >= kOldestMajor) {
    return Support::yes();
  }
  return Support::no(name_of(device) + " has compute capability " + std::to_string(device.major) +
                     "." + std::to_string(device.minor) + ", and there are kernels for " +
                     std::to_string(kOldestMajor) +
                     ".0 and later (A100 and what came after it); choose another run.device");
}

TargetError out_of_memory(const Device& device, const std::string& what, std::int64_t bytes) {
  const FreeMemory memory = device.free_memory();
  return TargetError(name_of(device.facts()) + " has no " + gigabytes(bytes) + " left for " + what +
                     ": " + gigabytes(memory.free) + " of " + gigabytes(memory.total) +
                     " are free (the rest is used, maybe by other programs: `nvidia-smi` lists "
                     "them); lower run.minibatch_size, choose another run.device, or wait for the "
                     "others");
}

void require(const Answer& answer, const DeviceFacts& device, const std::string& doing) {
  if (answer.ok()) {
    return;
  }
  if (answer.kind == Answer::Kind::device_lost) {
    throw TargetError(name_of(device) + " was lost in " + doing + ": " + answer.text +
                      " (its memory, and with it this run's weights since the last checkpoint, "
                      "cannot be read any more); look at `nvidia-smi` and the system's log, then "
                      "start again: training goes on from the last checkpoint");
  }
  throw TargetError(name_of(device) + " failed in " + doing + ": " + answer.text +
                    " (what it was computing is lost); start again, and report it if it comes "
                    "back");
}

}  // namespace cosmic::target::cuda
