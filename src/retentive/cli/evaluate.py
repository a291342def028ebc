"""`retentive eval`: quality on labelled conversations, and the promised behaviours."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from retentive.cli.options import FORMATS, MOMENT, POLICY, command
from retentive.cli.session import Session, on_terminal, talk

if TYPE_CHECKING:
    from retentive.embedders import Embedder
    from retentive.evaluate.report import Report
    from retentive.evaluate.runner import Progress
    from retentive.evaluate.scenarios.run import Verdict
    from retentive.policy.policy import Policy


@click.group("eval", short_help="Measure retrieval quality, and run the behaviours as scenarios.")
def evaluate() -> None:
    """Measure policies: on labelled conversations, and against the behaviours they promise."""


@command(
    "run",
    space=False,
    examples=[
        "retentive eval run --policy retentive --policy blend --overall",
        "retentive eval run --data example --touch --no-baselines --json",
        "retentive eval run --policy retentive --policy blend --save runs/first",
    ],
)
@click.option("--data", multiple=True, metavar="FILE", help="A set, neutral or as published; default: an example.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Its format, where its shape does not tell.")
@click.option("--policy", "policies", type=POLICY, multiple=True, help="A preset or a .toml file; default: retentive.")
@click.option("--baselines/--no-baselines", default=True, show_default=True, help="Also BM25, vector, RRF, min-max.")
@click.option("--touch", is_flag=True, help="Also answer in file order with write-back on, and print the difference.")
@click.option("--by-category/--overall", default=True, show_default=True, help="Also a table for each category.")
@click.option(
    "--limit-queries", type=click.IntRange(min=1), metavar="N", help="Only the first N questions of each set."
)
@click.option("--dated-text", is_flag=True, help="Write time and speaker into the text, as published baselines do.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Also write FILE.json or FILE.md.")
@click.option(
    "--save",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Keep the run: configuration, answers, figures, an HTML report; the same again resumes it.",
)
def run(session: Session, *, data: Sequence[str], out: Path | None, save: Path | None, **options: Any) -> None:
    """Ask every question of a set under every policy and print the usual metrics side by side.

    Memories are kept in a temporary folder, or in the one that --store names; your own store is never touched. Public
    sets are read as their authors publish them: LoCoMo, LongMemEval, BEAM, REALTALK.
    """
    _check_out(out)
    reports = []
    for name in data or ("example",):
        report, page = _measured(session, name, save / _stem(name) if save and len(data) > 1 else save, **options)
        reports.append(report)
        if not session.json:
            click.echo(_text(report, by_category=options["by_category"]))
        if page:
            talk(f"The report is in {page}.")
    if session.json:
        session.emit([_shape(report) for report in reports])
    if out:
        out.write_text(_file(reports, out, by_category=options["by_category"]), "utf-8")


def _stem(name: str) -> str:
    return Path(name).name.split(".")[0]


def _measured(
    session: Session,
    name: str,
    save: Path | None,
    *,
    form: str | None,
    policies: Sequence[str],
    baselines: bool,
    touch: bool,
    limit_queries: int | None,
    dated_text: bool,
    by_category: bool,  # noqa: ARG001 - decides how the report is printed
) -> tuple[Report, Path | None]:
    """Measure one set, and keep the run where that is wanted."""
    from retentive.evaluate import datasets
    from retentive.evaluate.runner import evaluate as measure
    from retentive.evaluate.saved import SavedRun, configuration

    dataset = datasets.load(name, form)
    dataset = dataset.first(limit_queries) if limit_queries else dataset
    asked = _policies(policies or ("retentive",), baselines=baselines)
    embedder, folder = _embedder(session), session.arguments.get("store")
    text_form = "dated" if dated_text else "fields"
    saved = None
    if save:
        saved = SavedRun(save, configuration(dataset, asked, embedder, touch=touch, text_form=text_form))
        if blocks := saved.begin():
            talk(f"Resuming {save}: {blocks} parts are there.")
    with _progress(dataset.name) as progress:
        report = measure(
            dataset,
            asked,
            embedder=embedder,
            touch=touch,
            store=Path(folder) if folder else None,
            text_form=text_form,
            progress=progress,
            journal=saved,
        )
    return report, saved.finish(report) if saved else None


def _shape(report: Report) -> dict[str, Any]:
    from retentive.evaluate.analysis import analyse

    return {**report.as_dict(), "analysis": analyse(report).as_dict()}


@command("from-ledger", examples=["retentive eval from-ledger --out mine.json"])
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The set to write.")
@click.option("--all", "every", is_flag=True, help="Every space of the store instead of one.")
@click.option("--since", type=MOMENT, help="Only recalls at or after this moment, e.g. 2026-05-01T00:00Z.")
def ledger(session: Session, *, out: Path, every: bool, since: datetime | None) -> None:
    """Turn your own recalls and their feedback into a set for `eval run` and `tune`.

    The set holds your memories' texts: keep it as you keep the store.
    """
    from retentive.evaluate.ledger import from_ledger, save, summary

    memories = session.memories()
    spaces = [memories.space(path) for path in memories.spaces()] if every else [session.space()]
    dataset = from_ledger({space.path: space.store for space in spaces}, since=since)
    save(dataset, out)
    session.emit({"file": str(out), "questions": dataset.questions}, f"{out}: {summary(dataset)}.")


@command(
    "scenarios",
    store=False,
    space=False,
    examples=["retentive eval scenarios --only 13", 'retentive eval scenarios --only "hot loop" --json'],
)
@click.option("--policy", type=POLICY, default="retentive", show_default=True, help="A preset or a .toml file.")
@click.option("--only", multiple=True, metavar="N|NAME", help="Only this scenario, by number or name; may be repeated.")
@click.option("--subject", metavar="COMMAND", help="Another memory layer: a program that answers JSON lines.")
def scenarios(session: Session, *, policy: str, only: Sequence[str], subject: str | None) -> None:
    """Play the behaviours that must hold, each in a small world of its own; exit 1 if a promise is broken.

    With --subject another memory layer takes the same test; docs/evaluation.md has the protocol, and benchmarks/peers
    programs for some.
    """
    progress = None if session.json else _print_verdict
    if subject:
        from retentive.evaluate.scenarios.remote import play

        name, verdicts = play(subject, only, progress)
    else:
        from retentive.evaluate.scenarios import RetentiveSubject, run_all, select

        chosen = _policies((policy,), baselines=False)[0]
        name = chosen.name
        verdicts = run_all(lambda setting: RetentiveSubject(setting, chosen), select(only), progress)
    if session.json:
        session.emit([verdict.as_dict() for verdict in verdicts])
    talk(_tally(name, verdicts))
    if any(verdict.failed for verdict in verdicts):
        sys.exit(1)


def _tally(name: str, verdicts: Sequence[Verdict]) -> str:
    kept = sum(verdict.outcome == "pass" for verdict in verdicts)
    asked = [verdict for verdict in verdicts if verdict.outcome != "not offered"]
    seconds = sum(verdict.seconds for verdict in verdicts)
    beside = f"; {len(verdicts) - len(asked)} it cannot express" if len(asked) < len(verdicts) else ""
    return f"{kept} of {len(asked)} behaviours hold under {name!r}{beside} ({seconds:.1f} s)."


evaluate.add_command(run)
evaluate.add_command(ledger)
evaluate.add_command(scenarios)


def _policies(names: Sequence[str], *, baselines: bool) -> list[Policy]:
    from retentive.cli.policies import load
    from retentive.evaluate.baselines import BASELINES

    chosen = [load(name) for name in names]
    return [*BASELINES, *chosen] if baselines else chosen


def _embedder(session: Session) -> Embedder:
    from retentive.embedders import resolve

    config = session.config
    return resolve(config.embedder, models_folder=config.models, options=config.embedder_options())


def _check_out(out: Path | None) -> None:
    if out and out.suffix not in {".json", ".md"}:
        raise click.BadParameter(f"{str(out)!r} ends in {out.suffix!r}; name a .json or .md file.", param_hint="--out")


@contextmanager
def _progress(name: str) -> Iterator[Progress | None]:
    """Show a bar with the running policy on a terminal's stderr, and nothing anywhere else."""
    if not on_terminal(err=True):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda done, total, label: bar.update(task, completed=done, total=total, description=label)


def _text(report: Report, *, by_category: bool) -> str:
    from retentive.evaluate.analysis import analyse
    from retentive.evaluate.analysis import as_text as how_sure
    from retentive.evaluate.report import as_text

    return f"{as_text(report, by_category=by_category)}\n{how_sure(analyse(report))}\n"


def _file(reports: Sequence[Report], out: Path, *, by_category: bool) -> str:
    import json

    from retentive.evaluate.report import as_markdown

    if out.suffix == ".json":
        return json.dumps([report.as_dict() for report in reports], indent=2, ensure_ascii=False) + "\n"
    return "\n".join(as_markdown(report, by_category=by_category) for report in reports)


_MARKS = {"pass": ("pass", "green"), "fail": ("FAIL", "red"), "not offered": ("n/a ", "yellow")}


def _print_verdict(verdict: Verdict) -> None:
    """Print a line as each verdict falls: what holds in short, what does not with its reason."""
    mark, colour = _MARKS[verdict.outcome]
    reason = f"\n           {verdict.reason}" if verdict.reason else ""
    click.echo(f"{verdict.number:>3}  {click.style(mark, fg=colour)}  {verdict.name}: {verdict.promise}{reason}")
