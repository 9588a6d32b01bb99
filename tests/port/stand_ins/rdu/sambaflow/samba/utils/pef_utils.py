def get_pefmeta(args, model):
    return {}
