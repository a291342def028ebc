"""How long a recall takes on a store of one's own, stage by stage: what `retentive bench` prints."""

from retentive.bench.cues import Probe, probes
from retentive.bench.report import Report, Spread
from retentive.bench.run import Plan, measure
from retentive.bench.spaces import copied, synthetic

__all__ = ["Plan", "Probe", "Report", "Spread", "copied", "measure", "probes", "synthetic"]
