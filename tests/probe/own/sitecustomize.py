"""A user's own, which must still be run."""
print("own sitecustomize")
