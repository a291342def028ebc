"""What is shipped to run the server with names only what exists, and is taken by the linters that are at hand."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from npm_peers import COMPOSE_LINTER, peer

from retentive.config import KEYS
from retentive.server.settings import PORT, ServeSettings

yaml: Any = pytest.importorskip("yaml", reason="PyYAML is not installed")
DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
MANIFESTS = sorted(DEPLOY.glob("kubernetes*.yaml"))
ROUTES = {"/health/live", "/health/ready"}


def documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(path.read_text("utf-8")) if document]


def containers(path: Path) -> list[dict[str, Any]]:
    pods = [document["spec"]["template"]["spec"] for document in documents(path) if "template" in document["spec"]]
    return [container for pod in pods for container in pod["containers"]]


def test_every_setting_named_there_exists() -> None:
    """A misspelt variable would keep the server from starting."""
    known = {key.variable for key in KEYS}
    for path in DEPLOY.iterdir():
        named = set(re.findall(r"RETENTIVE_[A-Z_]+", path.read_text("utf-8")))
        assert named <= known, path.name


def test_every_port_is_the_servers() -> None:
    """In all files the default one."""
    for path in DEPLOY.iterdir():
        ports = set(re.findall(r"(?:EXPOSE |port: |containerPort: |127\.0\.0\.1:)(\d+)", path.read_text("utf-8")))
        assert ports <= {str(PORT)}, path.name


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_kubernetes_asks_for_what_there_is_and_grants_little(path: Path) -> None:
    """Probes lead to routes; nobody is root; the root file system is read only; the end leaves time to finish."""
    for container in containers(path):
        for probe in ("livenessProbe", "readinessProbe"):
            assert container[probe]["httpGet"]["path"] in ROUTES
        limits = container["securityContext"]
        assert limits["readOnlyRootFilesystem"]
        assert not limits["allowPrivilegeEscalation"]
        assert limits["capabilities"]["drop"] == ["ALL"]
    for document in documents(path):
        if "template" in document["spec"]:
            pod = document["spec"]["template"]["spec"]
            assert pod["securityContext"]["runAsNonRoot"]
            assert pod["terminationGracePeriodSeconds"] > ServeSettings().drain
            assert document["spec"]["selector"]["matchLabels"] == document["spec"]["template"]["metadata"]["labels"]


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_kubernetes_takes_the_manifests(path: Path) -> None:
    """Its own schemas, strictly."""
    validator = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    for document in documents(path):
        validator.validate(document, validator.latest_version(), strict=True)


def test_the_image_is_nobody_and_has_a_health_check() -> None:
    """The last stage runs as a number that is not root's, and says how to see whether it lives."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8")
    last = text.rpartition("FROM ")[2]
    assert re.search(r"^USER 1\d+$", last, re.MULTILINE)
    assert "/health/live" in last
    assert 'ENTRYPOINT ["retentive"]' in last
    assert re.search(r"python:3\.\d+-slim-\w+", last)


def test_hadolint_has_nothing_to_say() -> None:
    """Where it is installed."""
    beside = str(Path(sys.executable).parent)  # where its wheel puts it
    hadolint = shutil.which("hadolint", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, str(DEPLOY / "Dockerfile")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_compose_grants_little() -> None:
    """No more rights than needed, this machine only; and it builds what it names, whoever else has that name."""
    service = documents(DEPLOY / "compose.yaml")[0]["services"]["retentive"]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["pull_policy"] == "build"
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_compose_takes_the_file() -> None:
    """Its own reading of it, where Compose is installed."""
    docker = shutil.which("docker")
    asked = [str(docker), "compose", "--file", str(DEPLOY / "compose.yaml"), "config", "--quiet"]
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("Docker Compose is not installed")
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_linter_of_compose_files_has_nothing_to_say(tmp_path: Path) -> None:
    """Against the schema of the specification and its own rules; it does see what is wrong."""
    linter = peer(COMPOSE_LINTER)
    told = [*linter, "--max-warnings", "0", str(DEPLOY / "compose.yaml")]
    done = subprocess.run(told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "compose.yaml"
    wrong.write_text((DEPLOY / "compose.yaml").read_text("utf-8").replace("read_only", "readonly"), "utf-8")
    assert subprocess.run([*linter, str(wrong)], capture_output=True, check=False).returncode == 1


def test_the_unit_leaves_time_to_finish_and_grants_little() -> None:
    """It stops later than the server does; it may write its own state only."""
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # systemd's names have capitals
    unit.read(DEPLOY / "retentive.service", "utf-8")
    service = unit["Service"]
    assert int(service["TimeoutStopSec"]) > ServeSettings().drain
    assert service["ProtectSystem"] == "strict"
    assert service["NoNewPrivileges"] == "yes"
    assert service["ExecStart"].endswith("retentive serve")


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    """Where its own check is installed; the program it names is put in place for it."""
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    text = (DEPLOY / "retentive.service").read_text("utf-8").replace("/opt/retentive/bin/retentive", "/bin/true")
    unit = tmp_path / "retentive.service"
    unit.write_text(text, "utf-8")
    done = subprocess.run([analyze, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if "retentive.service" in line]
    assert said == [], done.stderr
