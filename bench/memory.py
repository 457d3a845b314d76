"""How much the runner keeps while an agent prints more than any machine should."""

import json
import subprocess
import sys
import time
from pathlib import Path

from bench.measure import Result

BYTES = 1_000_000_000
LIMIT_MB = 100.0
_PROTOCOL = {
    "name": "talk",
    "phases": [{"id": "talk", "signals": {"TALKED": "complete"}, "transition": {}}],
}
_SCRIPT = f"agents:\n  talk:\n    - {{print: {{bytes: {BYTES}}}, signal: TALKED}}\n"


def results(place: Path) -> list[Result]:
    """Peak of the runner's own resident memory; what its children use is theirs."""
    root = place / "memory"
    home = root / "codev" / "protocols" / "talk"
    home.mkdir(parents=True)
    (home / "protocol.json").write_text(json.dumps(_PROTOCOL))
    (root / "script.yaml").write_text(_SCRIPT)
    subprocess.run(["git", "init", "--quiet", root], check=True)
    before = time.perf_counter()
    peak = _peak_mb(root)
    took = f"{time.perf_counter() - before:.0f} s"
    name = "memory of the runner while an agent prints 1 GB"
    return [Result(name, round(peak, 1), LIMIT_MB, "MB", took, "", 1)]


def _peak_mb(root: Path) -> float:
    porch = str(Path(sys.executable).with_name("porch"))
    words = [porch, "run", "talk", "0001", "--title", "talk", "--script", "script.yaml", "--plain"]
    peak = 0.0
    with (root / "output.txt").open("wb") as output:
        runner = subprocess.Popen(words, cwd=root, stdout=output, stderr=subprocess.STDOUT)
        while runner.poll() is None:
            peak = max(peak, _high_water_mb(runner.pid))
            time.sleep(0.02)
    if runner.returncode:
        raise RuntimeError((root / "output.txt").read_text(errors="replace")[-2000:])
    return peak


def _high_water_mb(pid: int) -> float:
    """The kernel keeps the peak itself, so looking now and then misses nothing."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    lines = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(lines[0].split()[1]) / 1000 if lines else 0.0
