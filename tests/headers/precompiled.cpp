// Nothing of its own: the target that owns the precompiled headers of the tests needs a file.
