"""Asks a server over gRPC as clients of Triton do: with messages that protoc made of the protocol's
definition, and the calls that their library makes. Prints what it found as JSON.

    grpc_client.py FOLDER_OF_STUBS HOST:PORT MODEL < pixels.json
"""

import json
import struct
import sys

sys.path.insert(0, sys.argv[1])
import grpc  # noqa: E402
import inference_pb2 as pb  # noqa: E402


def method(channel, name, answer):
    return channel.unary_unary(
        f"/inference.GRPCInferenceService/{name}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=answer.FromString,
    )


def status_of(call, request, **more):
    try:
        call(request, timeout=30, **more)
    except grpc.RpcError as error:
        return error.code().name
    return "OK"


def main():
    pixels = json.load(sys.stdin)
    model = sys.argv[3]
    channel = grpc.insecure_channel(
        sys.argv[2], options=[("grpc.max_receive_message_length", -1)]
    )
    infer = method(channel, "ModelInfer", pb.ModelInferResponse)

    def request(raw):
        made = pb.ModelInferRequest(model_name=model, id="from python")
        for name, datatype, code in (
            ("plane", "UINT8", "B"),
            ("index", "INT64", "q"),
            ("charge", "FP32", "f"),
        ):
            values = pixels[name]
            tensor = made.inputs.add(name=name, datatype=datatype, shape=[len(values)])
            if raw:
                made.raw_input_contents.append(struct.pack(f"<{len(values)}{code}", *values))
            elif datatype == "UINT8":
                tensor.contents.uint_contents.extend(values)
            elif datatype == "INT64":
                tensor.contents.int64_contents.extend(values)
            else:
                tensor.contents.fp32_contents.extend(values)
        made.outputs.add(name="pixel_cosmic")
        return made

    def scores(answer):
        return list(struct.unpack(f"<{len(pixels['charge'])}f", answer.raw_output_contents[0]))

    raw = infer(request(True), timeout=60)
    lists = infer(request(False), timeout=60)
    wrong = request(True)
    wrong.raw_input_contents[2] = struct.pack("<f", float("nan")) * len(pixels["charge"])
    short = request(True)
    short.raw_input_contents[1] = b"123"
    huge = request(True)
    huge.inputs[0].shape[0] = 1 << 62
    shared = request(True)
    shared.inputs[0].parameters["shared_memory_region"].string_param = "secret"
    metadata = method(channel, "ModelMetadata", pb.ModelMetadataResponse)(
        pb.ModelMetadataRequest(name=model), timeout=30
    )
    config = method(channel, "ModelConfig", pb.ModelConfigResponse)(
        pb.ModelConfigRequest(name=model), timeout=30
    )
    statistics = method(channel, "ModelStatistics", pb.ModelStatisticsResponse)(
        pb.ModelStatisticsRequest(name=model), timeout=30
    )
    index = method(channel, "RepositoryIndex", pb.RepositoryIndexResponse)(
        pb.RepositoryIndexRequest(), timeout=30
    )
    load = method(channel, "RepositoryModelLoad", pb.RepositoryModelLoadResponse)
    try:
        infer(request(True), timeout=1e-6)
        in_no_time = "OK"
    except grpc.RpcError as error:
        in_no_time = error.code().name
    print(
        json.dumps(
            {
                "live": method(channel, "ServerLive", pb.ServerLiveResponse)(
                    pb.ServerLiveRequest(), timeout=30
                ).live,
                "ready": method(channel, "ModelReady", pb.ModelReadyResponse)(
                    pb.ModelReadyRequest(name=model), timeout=30
                ).ready,
                "id": raw.id,
                "raw": scores(raw),
                "lists": scores(lists),
                "inputs": [tensor.name for tensor in metadata.inputs],
                "downsample": config.config.parameters["downsample"].string_value,
                "successes": statistics.model_stats[0].inference_stats.success.count,
                "index": [entry.state for entry in index.models],
                "nan": status_of(infer, wrong),
                "short": status_of(infer, short),
                "huge": status_of(infer, huge),
                "shared memory": status_of(infer, shared),
                "in no time": in_no_time,
                "load": status_of(load, pb.RepositoryModelLoadRequest(model_name=model)),
                "no model": status_of(infer, pb.ModelInferRequest(model_name="none")),
            }
        )
    )


main()
