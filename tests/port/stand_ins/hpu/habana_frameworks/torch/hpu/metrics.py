class _Metric:
    def stats(self):
        return [("TotalNumber", 0), ("FallbackOps", {})]


def metric_global(name):
    assert name in ("graph_compilation", "cpu_fallback", "recipe_cache", "memory_defragmentation")
    return _Metric()
