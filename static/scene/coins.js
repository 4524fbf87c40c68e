// 100 coins on a canvas, and the tables that they pay for.

/** The number of filled coins of a hundred, and the filled share of the last one. */
export function paintCoins(pen, ink, left, box) {
  const across = 20, rows = 5, step = Math.min(box.w / across, box.h / rows), r = step * 0.4;
  for (let k = 0; k < 100; k++) {
    const x = box.x + (k % across + 0.5) * step, y = box.y + (Math.floor(k / across) + 0.5) * step;
    const full = Math.max(0, Math.min(1, left - k));
    pen.beginPath(); pen.arc(x, y, r, 0, 7);
    pen.lineWidth = 1.2; pen.strokeStyle = ink("--coin"); pen.stroke();
    if (!full) continue;
    pen.beginPath(); pen.arc(x, y, r * Math.sqrt(full), 0, 7);
    pen.fillStyle = ink("--coin"); pen.fill();
  }
}

/** One little table per pair of columns; its cells tremble while ``still`` is below 1. */
export function paintTables(pen, ink, count, still, box) {
  const across = Math.ceil(Math.sqrt(count * box.w / box.h)), step = Math.min(box.w / across, box.h / Math.ceil(count / across));
  pen.fillStyle = ink("--st-text-color");
  for (let k = 0; k < count; k++) {
    for (let cell = 0; cell < 4; cell++) {
      const rest = 0.25 + 0.5 * Math.abs(Math.sin(7 * k + 3 * cell));
      pen.globalAlpha = Math.max(0.08, Math.min(0.9, rest + (1 - still) * (Math.random() - 0.5)));
      pen.fillRect(box.x + (k % across) * step + (cell % 2) * step * 0.4 + 1,
        box.y + Math.floor(k / across) * step + (cell >> 1) * step * 0.4 + 1, step * 0.36, step * 0.36);
    }
  }
  pen.globalAlpha = 1;
}
