import argparse


def parse_app_args(argv=None, dev_mode=False, common_parser_fn=None, test_parser_fn=None, run_parser_fn=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["compile", "run", "test", "measure-performance"])
    for word in ("--pef", "--pef-name", "--output-folder", "--num-tiles", "--mac-human-decision", "--mapping"):
        parser.add_argument(word)
    for word in ("--enable-conv-tiling", "--inference", "--data-parallel", "--reduce-on-rdu"):
        parser.add_argument(word, action="store_true")
    common_parser_fn(parser)
    return parser.parse_args(argv)
