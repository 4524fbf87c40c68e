// CURATE's margins: drag either error's curve or T, and the plan and the score change.
import {Picture, add, el, keyed} from "./dom.js";
import {short} from "./noise.js";

const TALL = 300, PAD = {left: 46, right: 14, top: 34, bottom: 44}, STRIP = 96, BARS = 180;
const LEVELS = {one: 0.8, two: 0.7, t: 0.6};  // the bound at which each handle sits
const WORDS = {one: "β₁", two: "β₂", t: "T"};

export class Margins extends Picture {
  /** Plans are [order, tests, epsilon, coins, rate 1, rate 2] an order; they and the scores lie place by place, T outermost.
   * @param {{thresholds: number[], betas: number[], plans: number[][][], scores: number[][], default: number[], best: number[], what: string, at: number[], digest: string}} given */
  show(given) {
    const fresh = this.fresh(given);
    if (fresh) this.ends = this.reach();
    const other = this.asked.other(String(given.at));
    if (fresh || (other && !this.hand)) [this.t, this.one, this.two] = given.at;
    if (!this.chart) this.build();
    this.draw();
  }

  build() {
    this.root.className = "scene margins-scene";
    this.chart = add("svg", {class: "errors", role: "group", "aria-label": "Lemma 1's two bounds against the epsilon of one test"});
    this.bars = add("svg", {class: "bars", role: "img"});
    this.strip = add("svg", {class: "strip", role: "img"});
    this.said = el("p", {class: "sentence", "aria-live": "polite"});
    const panel = el("div", {class: "panel dials"}, ...this.rows({one: "Margin beta 1", two: "Margin beta 2", t: "Threshold T"}, () => this.draw()),
      el("div", {class: "buttons"}, el("button", {class: "best", onclick: () => { [this.t, this.one, this.two] = this.given.best; this.draw(); this.rest(); }}, "Show the best")));
    this.root.replaceChildren(el("div", {class: "two"}, this.chart, el("div", {}, this.bars, this.strip)), panel, this.said);
    this.chart.addEventListener("pointermove", (e) => { if (this.hand) this.follow(e); });
    for (const name of ["pointerup", "pointercancel"]) this.chart.addEventListener(name, () => { if (this.hand) { this.hand = null; this.rest(); } });
    this.watch(() => this.draw());
  }

  rest() {
    this.asked.told(String([this.t, this.one, this.two]));
    this.hooks.rested(this.values_now);
  }

  get values_now() { const {betas, thresholds} = this.given; return {threshold: thresholds[this.t], beta1: betas[this.one], beta2: betas[this.two]}; }
  place(t = this.t, one = this.one, two = this.two) { const count = this.given.betas.length; return (t * count + one) * count + two; }
  get plan() { return this.given.plans[this.place()]; }
  get scores() { return this.given.scores[this.place()]; }

  /** Order 0's rates at a place, or nothing if the total allows no plan. */
  rates(t, one, two) { const first = this.given.plans[this.place(t, one, two)][0]; return first ? {one: first[4], two: first[5]} : {one: 0, two: 0}; }

  /** Where a handle lies on the epsilon axis, at a place of all three dials. */
  where(name, t = this.t, one = this.one, two = this.two) {
    const rates = this.rates(t, one, two), at = (rate) => -Math.log(2 * LEVELS[name] - 1) / Math.max(rate, 1e-9);
    return name === "t" ? Math.sqrt(at(rates.one) * at(rates.two)) : at(rates[name]);
  }

  /** The ends of the axis: they contain every plan's tests and all useful handles. */
  reach() {
    const seen = this.given.plans.flat().flatMap((row) => [row[2], ...[row[4], row[5]].map((rate) => 0.6 / rate)]).filter((v) => v > 1e-5 && v < 1e3);
    return [Math.log10(Math.min(...seen)) - 0.3, Math.log10(Math.max(...seen)) + 0.5];
  }

  x(epsilon) { const [low, high] = this.ends, at = (Math.log10(epsilon) - low) / (high - low); return PAD.left + Math.min(1, Math.max(0, at)) * (this.wide - PAD.left - PAD.right); }
  y(bound) { return PAD.top + (1 - bound) / 0.5 * (TALL - PAD.top - PAD.bottom); }

  /** Move the dragged handle to the nearest place. */
  follow(e) {
    const box = this.chart.getBoundingClientRect(), [low, high] = this.ends, name = this.hand;
    const share = (e.clientX - box.left - PAD.left) / (box.width - PAD.left - PAD.right), wanted = low + Math.min(1, Math.max(0, share)) * (high - low);
    const count = name === "t" ? this.given.thresholds.length : this.given.betas.length;
    const far = (k) => { const at = {t: this.t, one: this.one, two: this.two, [name]: k}; return Math.abs(Math.min(high, Math.max(low, Math.log10(this.where(name, at.t, at.one, at.two)))) - wanted); };
    let best = this[name];
    for (let k = 0; k < count; k++) if (far(k) < far(best) - 1e-9) best = k;
    if (best !== this[name]) { this[name] = best; this.draw(); }
  }

  draw() {
    const {given} = this;
    if (!this.root.clientWidth) return;
    this.fold();
    const seen = [this.digest, this.t, this.one, this.two, this.root.clientWidth].join(" ");
    if (seen === this.seen) return; // the handle under the pointer stays the same
    this.seen = seen;
    const now = this.values_now, mean = average(this.scores), error = spread(this.scores), first = this.plan[0];
    for (const [name, value, count] of [["one", now.beta1, given.betas.length], ["two", now.beta2, given.betas.length], ["t", now.threshold, given.thresholds.length]]) {
      this.stand(name, count, `${WORDS[name]} = ${value}`);
    }
    this.root.dataset.state = JSON.stringify({...now, score: mean, coins: this.plan.map((row) => row[3])});
    this.said.replaceChildren(...(first ? [`The budget allocation puts `, el("b", {class: "found"}, short(first[3])), ` of 100 coins on order 0, ε = ${short(first[2])} per test: a deletion is lost with at most ${percent(bound(first[4], first[2]))}, a wrong one made with at most ${percent(bound(first[5], first[2]))}. `] : ["No budget allocation is possible with this total. "]),
      `${given.what} `, el("b", {}, `${mean.toFixed(2)} ± ${error.toFixed(2)}`), ` over ${this.scores.length} draws; the default setting has ${average(given.default).toFixed(2)} ± ${spread(given.default).toFixed(2)}.`);
    this.paintChart();
    this.paintBars();
    this.paintStrip(mean);
  }

  /** An empty picture as wide as its container. */
  blank(svg, tall) {
    const wide = Math.max(240, svg.clientWidth || svg.parentElement.clientWidth);
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
    svg.setAttribute("height", String(tall));
    return wide;
  }

  paintChart() {
    const held = this.root.getRootNode().activeElement?.dataset?.handle;
    this.wide = this.blank(this.chart, TALL);
    const {chart, wide} = this, floor = TALL - PAD.bottom, text = (words, x, y, more = {}) => add("text", {x, y, ...more}, chart, words);
    for (const level of [0.5, 0.75, 1]) {
      add("line", {x1: PAD.left, x2: wide - PAD.right, y1: this.y(level), y2: this.y(level), class: "grid"}, chart);
      text(String(level), PAD.left - 8, this.y(level) + 5, {class: "end"});
    }
    for (let k = Math.ceil(this.ends[0]); k <= this.ends[1]; k++) text(short(10 ** k), this.x(10 ** k), floor + 18);
    text("ε of one test", (wide + PAD.left) / 2, floor + 38);
    text("an error's chance is at most …", PAD.left, 14, {class: "start"});
    const curve = (rate) => Array.from({length: 121}, (_, k) => { const e = 10 ** (this.ends[0] + k / 120 * (this.ends[1] - this.ends[0])); return `${k ? "L" : "M"}${this.x(e).toFixed(1)} ${this.y(bound(rate, e)).toFixed(1)}`; }).join("");
    const rates = this.rates(this.t, this.one, this.two);
    add("path", {d: curve(rates.one), class: "curve one"}, chart);
    add("path", {d: curve(rates.two), class: "curve two"}, chart);
    together(this.plan).forEach(({rows, epsilon, one, two}, k) => {
      const high = Math.max(...[["one", one], ["two", two]].map(([side, rate]) => { const at = this.y(bound(rate, epsilon)); add("circle", {cx: this.x(epsilon), cy: at, r: 4, class: `order ${side}`}, chart); return bound(rate, epsilon); }));
      text(rows.length > 1 ? `orders ${rows[0]}–${rows[rows.length - 1]}` : `order ${rows[0]}`, this.x(epsilon), this.y(high) + (k % 2 ? -9 : 19), {class: "small"});
    });
    const level = this.y(LEVELS.t), ends = [rates.one, rates.two].map((rate) => this.x(-Math.log(2 * LEVELS.t - 1) / Math.max(rate, 1e-9)));
    add("line", {x1: ends[0], x2: ends[1], y1: level, y2: level, class: "bracket"}, chart);
    for (const name of ["t", "two", "one"]) this.handle(name);
    if (held) chart.querySelector(`[data-handle="${held}"]`)?.focus();
  }

  handle(name) {
    const now = this.values_now, value = {one: now.beta1, two: now.beta2, t: now.threshold}[name], x = this.x(this.where(name)), y = this.y(LEVELS[name]);
    const count = name === "t" ? this.given.thresholds.length : this.given.betas.length, right = x < this.wide - 90;
    const group = add("g", {class: `handle ${name}`, tabindex: 0, role: "slider", "data-handle": name, "aria-label": this.dials[name].getAttribute("aria-label"), "aria-valuemin": 0, "aria-valuemax": count - 1, "aria-valuenow": this[name], "aria-valuetext": String(value)}, this.chart);
    add("circle", {cx: x, cy: y, r: 20, class: "reach"}, group);
    add("circle", {cx: x, cy: y, r: 9, class: "grip"}, group);
    add("text", {x: name === "t" ? x : x + (right ? 14 : -14), y: name === "t" ? y + 26 : y + 5, class: name === "t" ? "" : right ? "start" : "end"}, group, `${WORDS[name]} = ${value}`);
    group.addEventListener("pointerdown", (e) => { this.hand = name; this.chart.setPointerCapture(e.pointerId); e.preventDefault(); });
    keyed(group, {ArrowLeft: 1, ArrowDown: -1, ArrowRight: -1, ArrowUp: 1}, (by) => {  // a larger margin lies to the left
      this[name] = Math.min(count - 1, Math.max(0, this[name] + by));
      this.draw();
      this.rest();
    });
  }

  paintBars() {
    const wide = this.blank(this.bars, BARS), floor = BARS - 40, {plan} = this, step = wide / Math.max(1, plan.length);
    this.bars.setAttribute("aria-label", plan.map((row) => `order ${row[0]}: ${short(row[3])} coins`).join(", "));
    plan.forEach((row, k) => {
      const tall = row[3] / 100 * (floor - 22), at = (k + 0.5) * step;
      add("rect", {x: at - step * 0.33, width: step * 0.66, y: floor - tall, height: tall, class: "pillar"}, this.bars);
      add("text", {x: at, y: floor - tall - 5}, this.bars, row[3] < 0.05 ? "0" : row[3] < 10 ? row[3].toFixed(1) : row[3].toFixed(0));
      add("text", {x: at, y: floor + 17}, this.bars, String(row[0]));
    });
    add("text", {x: wide / 2, y: BARS - 5}, this.bars, "coins of 100 on each order's tests");
  }

  paintStrip(mean) {
    const wide = this.blank(this.strip, STRIP), floor = STRIP - 38, x = (v) => 16 + v * (wide - 32), piles = new Map();
    this.strip.setAttribute("aria-label", `${this.given.what} of every draw, mean ${mean.toFixed(2)}`);
    add("line", {x1: x(0), x2: x(1), y1: floor, y2: floor, class: "axis"}, this.strip);
    for (const v of this.scores) {
      const bin = Math.round(v * 40), high = piles.get(bin) || 0;
      piles.set(bin, high + 1);
      add("circle", {cx: x(v), cy: floor - 5 - 7 * high, r: 3.4, class: "draw"}, this.strip);
    }
    const tick = (v, kind) => add("line", {x1: x(v), x2: x(v), y1: floor - 44, y2: floor + 4, class: kind}, this.strip);
    tick(average(this.given.default), "default");
    tick(mean, "mean");
    for (const [v, words] of [[0, "0"], [1, "1"]]) add("text", {x: x(v), y: floor + 17}, this.strip, words);
    add("text", {x: wide / 2, y: STRIP - 5}, this.strip, `${this.given.what}: draws and mean; dashed: default`);
  }
}

/** Orders whose tests get the same budget: their numbers, epsilon and rates. @param {number[][]} plan */
function together(plan) {
  const found = [];
  for (const [order, , epsilon, , one, two] of plan) {
    const last = found[found.length - 1];
    if (last && Math.abs(Math.log(epsilon / last.epsilon)) < 0.05 && Math.abs(one - last.one) <= 0.05 * one) last.rows.push(order);
    else if (epsilon > 1e-6) found.push({rows: [order], epsilon, one, two});
  }
  return found;
}

/** Lemma 1's bound with c = 1, the safe value. */
function bound(rate, epsilon) { return (1 + Math.exp(-rate * epsilon)) / 2; }

function average(values) { return values.reduce((a, b) => a + b, 0) / values.length; }

/** The standard error of the mean. */
function spread(values) {
  const m = average(values);
  return Math.sqrt(values.reduce((a, v) => a + (v - m) ** 2, 0) / Math.max(1, values.length - 1) / values.length);
}

function percent(share) { return `${(100 * share).toFixed(0)} %`; }
