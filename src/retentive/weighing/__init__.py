"""How important a memory is that nobody rated: an anchored scale, features of its text, calibrated to the space."""
