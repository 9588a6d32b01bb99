// Networks, and what trains them: PopTorch's workflow, as docs/session.md has it. Options say how
// often and in what portions, a model is compiled once, a loader feeds it. The names are those of
// the program's own sources, in namespace cosmic, whose headers come along; unlike
// <cosmictagger/tagger.hpp> they may change from version to version.
#pragma once

#include "core/error.hpp"
#include "data/idx/fashion_mnist_samples.hpp"
#include "data/loader/batch_loader.hpp"
#include "model/fashion_mnist.hpp"
#include "model/identity_loss.hpp"
#include "model/segmentation_loss.hpp"
#include "model/sequential.hpp"
#include "model/uresnet.hpp"
#include "session/call_shape.hpp"
#include "session/model.hpp"
#include "session/options_file.hpp"
#include "session/safetensors.hpp"
