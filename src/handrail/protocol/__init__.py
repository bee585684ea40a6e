"""The vocabulary: frozen models that every door, surface and file speaks. Knows nothing above itself."""
