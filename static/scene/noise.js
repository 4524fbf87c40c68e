// Noise on one test: drag the score along its axis; dots fall, pile up, and turn orange beyond T.
import {Picture, el, held, keyed, range, sheet} from "./dom.js";

const RATE = 9, MOST = 1200, RADIUS = 3.2, FALL = 0.16;

/** Uniform numbers between 0 and 1, the same for the same seed (Marsaglia's xorshift). */
export function seeded(seed) {
  let s = Math.imul(seed % 2 ** 32 + 1, 2654435761) || 1;
  const next = () => { s ^= s << 13; s ^= s >>> 17; s ^= s << 5; return ((s >>> 0) + 0.5) / (2 ** 32 + 1); };
  for (let k = 0; k < 16; k++) next();  // similar seeds would begin similarly
  return next;
}

/** Turn a uniform number into Laplace noise, for illustrations on public data. */
export function laplace(scale, uniform = Math.random) {
  const u = uniform() - 0.5;
  return -scale * Math.sign(u) * Math.log(1 - 2 * Math.abs(u));
}

/** P(Laplace(scale) < x). */
export function below(x, scale) {
  const tail = Math.exp(-Math.abs(x) / scale) / 2;
  return x >= 0 ? 1 - tail : tail;
}

/** A number in three digits. */
export function short(x) {
  return x && Math.abs(x) < 1e-3 ? x.toExponential(2) : String(Number(x.toPrecision(3)));
}

export class Noise extends Picture {
  /** @param {{score: number, level: number, sensitivity: number, epsilon: number, inks: any, words: any}} given */
  show(given) {
    const {score, level, sensitivity, epsilon} = given;
    if (!this.fresh(given, JSON.stringify([score, level, sensitivity, epsilon]))) return;
    Object.assign(this, {score, level, sensitivity, epsilon});
    if (!this.canvas) this.build();
    this.eps.value = String(Math.log10(epsilon));
    this.restart();
  }

  build() {
    this.canvas = el("canvas", {class: "noise", tabindex: 0, role: "slider", "aria-label": "The strength of the link: drag it, or use the arrow keys"});
    this.eps = range("epsilon of this test", {min: -3, max: 1, step: 0.02,
      oninput: () => { this.epsilon = 10 ** Number(this.eps.value); this.restart(); }});
    this.said = el("p", {class: "sentence"});
    this.value = el("b", {class: "value"});
    this.root.className = "scene noise-scene";
    this.root.append(el("div", {class: "main"}, this.canvas, el("div", {class: "panel"}, this.eps,
      el("div", {class: "ends"}, el("span", {}, "much noise"), this.value, el("span", {}, "little noise"))), this.said));
    held(this.canvas, (e) => { this.held = true; this.take(e); }, () => { this.held = false; });
    keyed(this.canvas, {ArrowLeft: -1, ArrowRight: 1}, (by) => { this.score = Math.max(0, this.score + by * this.level / 20); this.restart(); });
    this.watch(() => this.restart(), this.canvas);
  }

  get scale() { return this.sensitivity / this.epsilon; }

  /** Move the score to the pointer. */
  take(e) {
    const box = this.canvas.getBoundingClientRect();
    const [low, high] = this.reach, share = (e.clientX - box.left) / box.width;
    this.score = Math.max(0, low + share * (high - low));
    this.restart();
  }

  /** Start again, because the noise or the strength changed. */
  restart() {
    if (!this.held) {
      const far = Math.max(this.level, this.score) + Math.max(2.2 * this.level, Math.min(5 * this.scale, 30 * this.level));
      this.reach = [Math.min(-0.35 * far, this.score - Math.min(5 * this.scale, far)), far];
    }
    this.piles = new Map();
    this.falling = [];
    this.fallen = 0;
    this.other = 0;
    this.value.textContent = `ε = ${short(this.epsilon)}`;
    this.canvas.setAttribute("aria-valuenow", String(this.score));
    this.canvas.setAttribute("aria-valuetext", short(this.score));
    if (this.still) for (let k = 0; k < MOST; k++) this.land(this.drop());
    this.animate(() => this.frame());
  }

  drop() { return {x: this.score + laplace(this.scale), y: 0}; }

  /** True if noise reverses the decision of the exact score. */
  turned(x) { return (x < this.level) !== (this.score < this.level); }

  land(dot) {
    const width = 2 * RADIUS * (this.reach[1] - this.reach[0]) / Math.max(1, this.canvas.clientWidth);
    const bin = Math.floor(dot.x / width);
    this.piles.set(bin, (this.piles.get(bin) || 0) + 1);
    this.fallen++;
    if (this.turned(dot.x)) this.other++;
    this.width = width;
  }

  frame() {
    for (let k = 0; k < RATE && this.fallen + this.falling.length < MOST; k++) this.falling.push(this.drop());
    this.falling.forEach((dot) => { dot.y += FALL * (0.6 + Math.random()); });
    this.falling = this.falling.filter((dot) => { if (dot.y >= 1) this.land(dot); return dot.y < 1; });
    this.paint();
    this.speak();
    return this.falling.length > 0 || this.fallen < MOST;
  }

  speak() {
    const area = this.score < this.level ? 1 - below(this.level - this.score, this.scale) : below(this.level - this.score, this.scale);
    const goes = this.score < this.level;
    this.said.replaceChildren(`Without noise the link ${goes ? "goes" : "stays"}. `,
      el("b", {class: "false_positive"}, `${this.other} of ${this.fallen}`), " draws disagree",
      `: ${this.fallen ? Math.round(100 * this.other / this.fallen) : 0} in 100; in the long run ${short(100 * area)} in 100.`);
  }

  paint() {
    const found = sheet(this.canvas);
    if (!found) return;
    const {pen, w, h, ink} = found;
    const [low, high] = this.reach, x = (v) => (v - low) / (high - low) * w, floor = h - 46, top = 46;
    const tallest = Math.max(24, ...this.piles.values()), step = Math.min(2 * RADIUS, (floor - top) / tallest);
    pen.fillStyle = ink("--found");
    for (const [bin, many] of this.piles) {
      const middle = (bin + 0.5) * this.width;
      pen.fillStyle = this.turned(middle) ? ink("--false_positive") : ink("--found");
      for (let k = 0; k < many; k++) this.dot(pen, x(middle), floor - RADIUS - k * step);
    }
    for (const dot of this.falling) {
      pen.fillStyle = this.turned(dot.x) ? ink("--false_positive") : ink("--found");
      this.dot(pen, x(dot.x), top + dot.y * (floor - top));
    }
    this.marks(pen, ink, x, {w, h, floor, top});
  }

  dot(pen, x, y) { pen.beginPath(); pen.arc(x, y, RADIUS, 0, 7); pen.fill(); }

  marks(pen, ink, x, box) {
    const text = ink("--st-text-color");
    pen.strokeStyle = pen.fillStyle = text;
    pen.lineWidth = 1.5;
    pen.beginPath(); pen.moveTo(0, box.floor); pen.lineTo(box.w, box.floor); pen.stroke();
    pen.setLineDash([5, 4]);
    pen.beginPath(); pen.moveTo(x(this.level), box.top - 8); pen.lineTo(x(this.level), box.floor); pen.stroke();
    pen.setLineDash([]);
    const right = this.score >= this.level;
    pen.textAlign = right ? "right" : "left";
    pen.fillText(`T = ${short(this.level)}`, x(this.level) + (right ? -6 : 6), box.top - 4);
    pen.textAlign = "center";
    pen.fillText("← the link goes", x(this.level) - 74, box.floor + 38);
    pen.fillText("the link stays →", x(this.level) + 74, box.floor + 38);
    const at = x(this.score);
    pen.beginPath(); pen.moveTo(at, box.floor); pen.lineTo(at, 24); pen.stroke();
    pen.fillStyle = ink("--st-primary-color");
    pen.beginPath(); pen.arc(at, box.floor, 9, 0, 7); pen.fill();
    pen.fillStyle = text;
    pen.fillText(`strength ${short(this.score)}: drag it`, Math.min(box.w - 80, Math.max(80, at)), 16);
  }
}
