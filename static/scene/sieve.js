// The sieve: drag T and T - t along the scores' axis, and choose m. Every query is answered again.
import {Picture, el, held, sheet} from "./dom.js";
import {laplace, seeded, short} from "./noise.js";

const DOT = 3.4, BASE = 46, UPPER = 30;

export class Sieve extends Picture {
  /** @param {{scores: (number | null)[], truth: (number | null)[], scale: string, end: number, thresholds: number[], tweaks: number[], levels: number[][][], samples: any[], at: number[], digest: string}} given */
  show(given) {
    const fresh = this.fresh(given);
    if (fresh) this.known = given.scores.map((_, k) => k).filter((k) => given.scores[k] !== null);
    const other = this.asked.other(String(given.at)) && !this.held;
    if (other) [this.t, this.w, this.m, this.seed] = given.at;
    if (fresh || other) this.drawNoise();
    if (!this.canvas) this.build();
    this.draw();
  }

  build() {
    this.root.className = "scene sieve-scene";
    this.canvas = el("canvas", {class: "noise", role: "img", "aria-label": "Scores of all queries with noise, and the two thresholds"});
    this.said = el("p", {class: "sentence", "aria-live": "polite"});
    this.root.replaceChildren(el("div", {class: "main"}, this.canvas, el("div", {class: "panel dials"}, ...this.rows({t: "Threshold T", w: "Tweak t", m: "Rows m in the sieve's sample"}, () => { this.held = true; this.draw(); }),
      el("div", {class: "buttons"}, el("button", {onclick: () => this.shake()}, "Draw new noise"))), this.said));
    held(this.canvas, (e, down) => { if (down) this.hand = this.nearer(e); this.held = true; this.follow(e); }, () => this.rest());
    this.watch(() => this.draw(), this.canvas);
  }

  /** One draw of standard noise per query, which the dials only scale. A link shows the same draw. */
  drawNoise() {
    const uniform = seeded(this.seed);
    this.draws = this.given.scores.map(() => [laplace(1, uniform), laplace(1, uniform)]);
  }

  shake() { this.seed += 1; this.drawNoise(); this.draw(); this.rest(); }

  rest() {
    this.held = false;
    const {thresholds, tweaks, samples} = this.given, {share, best} = samples[this.m];
    this.asked.told(String([this.t, this.w, this.m, this.seed]));
    this.hooks.rested({threshold: thresholds[this.t], tweak: tweaks[this.w], share, best, seed: this.seed});
  }

  get level() { return this.given.levels[this.t][this.w][0]; }
  get lowered() { return this.given.levels[this.t][this.w][1]; }

  /** The position of a value on the canvas. Values beyond the end share the last position. */
  x(v) { const {end} = this.given, low = -0.12 * end; return (Math.max(low, Math.min(end, v)) - low) / (end - low) * this.canvas.clientWidth; }
  value(e) { const box = this.canvas.getBoundingClientRect(), {end} = this.given, low = -0.12 * end; return low + (e.clientX - box.left) / box.width * (end - low); }
  nearer(e) { const v = this.value(e); return Math.abs(v - this.level) <= Math.abs(v - this.lowered) ? "t" : "w"; }

  /** Move the dragged threshold to the nearest place. */
  follow(e) {
    const v = this.value(e), name = this.hand, column = name === "t" ? this.given.levels.map((row) => row[this.w][0]) : this.given.levels[this.t].map((pair) => pair[1]);
    this[name] = column.reduce((best, at, k) => Math.abs(at - v) < Math.abs(column[best] - v) ? k : best, 0);
    this.draw();
  }

  /** True if a value looks independent: high on p, low on |z|. */
  beyond(v, level) { return this.given.scale === "p" ? v >= level : v <= level; }

  draw() {
    const {given} = this;
    if (!this.canvas.clientWidth) return;
    const sample = given.samples[this.m];
    this.stand("t", given.thresholds.length, `T = ${given.thresholds[this.t]}${given.scale === "z" ? `, strength ${short(this.level)}` : ""}`);
    this.stand("w", given.tweaks.length, `t = ${given.tweaks[this.w]}`);
    this.stand("m", given.samples.length, `m = ${sample.m.toLocaleString("en")}${sample.best ? ", the best" : ""}`);
    const found = this.known.map((k) => {
      const exact = given.scores[k], noisy = exact + sample.a * this.draws[k][0] - sample.b * this.draws[k][1];
      const passes = this.beyond(noisy, this.lowered), independent = this.beyond(exact, this.level);
      return {noisy, passes, independent};
    });
    const lost = found.filter((f) => f.independent && !f.passes).length, vain = found.filter((f) => !f.independent && f.passes).length;
    const passed = found.filter((f) => f.passes).length;
    this.root.dataset.state = JSON.stringify({t: given.thresholds[this.t], w: given.tweaks[this.w], m: sample.m, level: this.level, lowered: this.lowered, passed, lost, vain, of: found.length});
    this.said.replaceChildren("With this noise ", el("b", {}, `${passed} of ${found.length}`), " queries pass the sieve and are examined: ",
      el("b", {class: "false_positive"}, `${vain} needlessly`), " (they look dependent), while ", el("b", {class: "reversed"}, `${lost}`),
      ` that look independent ${lost === 1 ? "is" : "are"} lost. Noise: s.d. ${short(sample.sd)}.`);
    this.paint(found);
  }

  paint(found) {
    const got = sheet(this.canvas);
    if (!got) return;
    const {pen, w, h, ink} = got, floor = h - BASE;
    const piles = new Map(), bins = found.map((f) => Math.round(this.x(f.noisy) / (2 * DOT)));
    for (const bin of bins) piles.set(bin, (piles.get(bin) || 0) + 1);
    const step = Math.min(2 * DOT, (floor - UPPER) / Math.max(1, ...piles.values())), filled = new Map();
    found.forEach((f, k) => {
      const at = filled.get(bins[k]) || 0;
      filled.set(bins[k], at + 1);
      pen.fillStyle = ink(f.passes === f.independent ? f.passes ? "--found" : "--missed" : f.passes ? "--false_positive" : "--reversed");
      pen.beginPath(); pen.arc(Math.min(w - DOT, Math.max(DOT, bins[k] * 2 * DOT)), floor - DOT - at * step, DOT, 0, 7); pen.fill();
    });
    const text = ink("--st-text-color"), p = this.given.scale === "p";
    pen.strokeStyle = pen.fillStyle = text;
    pen.lineWidth = 1.5;
    pen.beginPath(); pen.moveTo(0, floor); pen.lineTo(w, floor); pen.stroke();
    pen.textAlign = "center";
    for (let k = 0; k <= 4; k++) pen.fillText(short(this.given.end * k / 4) + (k === 4 && !p ? "+" : ""), Math.min(w - 14, this.x(this.given.end * k / 4)), floor + 18);
    const full = ["dependent: filtered", p ? "perhaps independent: examined →" : "← perhaps independent: examined"];
    const room = pen.measureText(full.join("")).width + 24 < w, ends = room ? full : ["sifted out", p ? "examined →" : "← examined"];
    pen.textAlign = "left";
    pen.fillText(ends[p ? 0 : 1], 4, h - 6);
    pen.textAlign = "right";
    pen.fillText(ends[p ? 1 : 0], w - 4, h - 6);
    const mark = (v, words, dash, side, colour) => {
      const at = this.x(v);
      pen.strokeStyle = pen.fillStyle = colour;
      pen.setLineDash(dash);
      pen.beginPath(); pen.moveTo(at, UPPER - 8); pen.lineTo(at, floor); pen.stroke();
      pen.setLineDash([]);
      pen.beginPath(); pen.arc(at, floor, 8, 0, 7); pen.fill();
      pen.textAlign = side;
      pen.fillText(words, at + (side === "left" ? 6 : -6), UPPER - 12);
    };
    const right = this.lowered >= this.level;
    mark(this.level, `T = ${short(this.level)}`, [], right ? "right" : "left", text);
    mark(this.lowered, `T − t = ${short(this.lowered)}`, [5, 4], right ? "left" : "right", ink("--st-primary-color"));
  }
}
