"""Sessions of ``make soak`` in Chromium windows: what a browser adds to the server's answer."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from benchmarks.visitor import DATASETS, Seen

DRAWN = """() => {
  const frames = [...document.querySelectorAll("iframe")];
  return frames.length > 0 && frames.every((f) => f.contentDocument?.body?.dataset.drawn);
}"""
# What happens in the page, timed there: "key" has just been typed into the seed, or Run is pressed.
# Milliseconds until the page rests and shows what was asked for. A press must bring the seed that
# was typed: a run that is the same as before draws no new graph.
UNTIL = """([press, seed]) => new Promise((done, fail) => {
  const start = performance.now(), all = (what) => [...document.querySelectorAll(what)];
  if (press) { document.querySelector(".st-key-run button").click(); }
  const ran = () => all(".stHtml").some((e) => e.innerText.includes("Noise seed\\n" + seed + "\\n"))
      && all("iframe").length > 0
      && all("iframe").every((f) => f.contentDocument?.body?.dataset.drawn)
      && document.querySelector(".st-key-notice .headline");
  // A short run begins by itself: then the key brings the result, and the press finds it there.
  const shown = () => ran() || (!press
    && document.querySelector(".st-key-notice")?.innerText.includes("Settings changed"));
  const app = document.querySelector('[data-testid="stApp"]');
  const look = () => {
    const spent = performance.now() - start;
    if (app.dataset.testScriptState === "notRunning" && shown()) { done(spent); }
    else if (spent > 60000) { fail(new Error("no answer within a minute")); }
    else { setTimeout(look, 20); }
  };
  look();
})"""
SHOWN = """() => document.querySelector(".stHtml h1").closest(".stHtml").innerText"""


async def windows(
    url: str, people: range, seconds: float, rest: float, chromium: str, seen: Seen
) -> None:
    """So many people at once, each in a browser context of their own, for so long."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        await asyncio.gather(*(_person(browser, url, i, seconds, rest, seen) for i in people))
        await browser.close()


async def _person(
    browser: Any, url: str, who: int, seconds: float, rest: float, seen: Seen
) -> None:
    """Types seeds that are this person's alone, presses Run, looks at the result."""
    dataset, seed = DATASETS[who % 4], 1000 * who
    context = await browser.new_context()
    page = await context.new_page()
    page.set_default_timeout(150_000)
    try:
        await page.goto(f"{url}/run?data={dataset}&n=20000&seed={seed}")
        await page.wait_for_function(DRAWN)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            seed += 1
            entry = page.locator(".st-key-run-seed input")
            await entry.fill(f"{seed}")
            await entry.press("Enter")
            seen.replies.append(await page.evaluate(UNTIL, [False, seed]) / 1000)
            seen.answers.append(await page.evaluate(UNTIL, [True, seed]) / 1000)
            seen.presses += 1
            shown = await page.evaluate(SHOWN)
            if dataset.capitalize() not in shown or f"\n{seed}\n" not in shown:
                seen.trouble.append(f"a session on {dataset}, seed {seed}, shows something else")
            await asyncio.sleep(rest)
    except Exception as error:  # one session's end is a finding, not the end of the soak
        seen.trouble.append(f"{type(error).__name__}: {error}".partition("\n")[0])
    finally:
        await context.close()
