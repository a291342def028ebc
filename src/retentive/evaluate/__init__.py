"""Measuring a policy: on labelled conversations (`runner`) and against promised behaviours (`scenarios`)."""
