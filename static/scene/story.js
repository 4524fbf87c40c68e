// The story: one graph and a thousand dots that follow the text, without requests to a server.
import {Picture, el, ease, figure, range, sheet} from "./dom.js";
import {Graph} from "./graph.js";
import {ABSENT, BACK, FORTH, LINE, counts, guesses, mean, read, share} from "./model.js";
import {below, laplace, seeded} from "./noise.js";

const MANY = 1000, SHARE = 0.16, AWAY = 30;  // dots, the share of its way that a dot moves per frame, pixels beyond an edge
const BEFORE = ["patient", "causes", "records"];
const NOTHING = {kind: "none", opacity: 0, forth: 0, back: 0};

/** Places in a grid that fills a box. */
const grid = (k, {w, h}, many = MANY) => {
  const across = Math.max(1, Math.round(Math.sqrt(many * w / h))), rows = Math.ceil(many / across);
  return [(k % across + 0.5) * w / across, (Math.floor(k / across) + 0.5) * h / rows];
};

/** Places in a ring of ten. */
const ring = (k, [x, y], step) => [x + 3 * step * Math.cos(k * Math.PI / 5), y + 3 * step * Math.sin(k * Math.PI / 5)];

/** Places in a disc, from its middle outwards. */
const disc = (k, [x, y], step) => [x + step * Math.sqrt(k + 0.5) * Math.cos(k * 2.399963), y + step * Math.sqrt(k + 0.5) * Math.sin(k * 2.399963)];

class Stage extends Picture {
  /** @param {HTMLElement} root @param {Record<string, any>} given */
  constructor(root, given) {
    super(root);
    this.given = given;
    this.at = given.start;
    this.graph = new Graph({role: "img"});
    this.canvas = el("canvas", {"aria-hidden": "true"});
    this.said = el("p", {class: "sentence", "aria-live": "polite"});
    this.value = el("b", {class: "value"});
    this.dial = range("epsilon", {max: given.scene.epsilons.length - 1, value: given.start,
      oninput: () => { this.at = Number(this.dial.value); this.draw(); }});
    root.append(this.graph.svg, this.canvas, this.said, el("div", {class: "panel"},
      el("span", {}, "strong privacy"), this.dial, el("span", {}, "weak privacy"), this.value));
    const uniform = seeded(7);
    this.uniform = Array.from({length: MANY}, uniform);
    this.random = Array.from({length: MANY}, uniform);
    this.chosen = given.smokes.findIndex((smokes, k) => k > MANY / 2 && smokes && given.ill[k]);
    this.dots = this.uniform.map(() => ({ink: "", alpha: 0, far: 1}));
  }

  async begin(key) {
    this.key = key;
    this.model = await read(this.given.scene);
    this.watch(() => this.draw());
  }

  enter(key) { if (key !== this.key) { this.key = key; this.draw(); } }

  get radius() { return Math.max(1.9, 0.19 * Math.sqrt(this.canvas.clientWidth * this.canvas.clientHeight / MANY)); }
  get epsilon() { return this.model.epsilons[this.at]; }

  draw() {
    if (!this.model || !this.root.clientWidth) return;
    this.graph.fit(this.model, this.given, false);
    const lit = this.pair(this.given.lines[this.key]), looks = this.links(lit), found = this[this.key](this.size());
    this.graph.paint(looks, lit, true);
    this.root.dataset.state = JSON.stringify({key: this.key, epsilon: this.epsilon});
    const fixed = this.key === "hospitals" ? this.given.shared : null, epsilon = fixed || this.epsilon;
    this.dial.disabled = fixed !== null;
    const {epsilons} = this.model, far = (e) => Math.abs(Math.log(e / epsilon));
    this.dial.value = String(epsilons.indexOf(epsilons.reduce((best, e) => far(e) < far(best) ? e : best)));
    this.value.textContent = BEFORE.includes(this.key) ? "" : `ε = ${epsilon}`;  // the fourth step explains ε
    this.dial.setAttribute("aria-valuetext", `epsilon ${epsilon}`);
    this.said.textContent = found.said;
    this.rules = found.rules || [];
    this.labels = found.labels || [];
    this.goal = found.places;
    if (this.still || !this.now) this.now = this.goal.map((place) => [...place]);
    this.animate(() => { const far = ease(this.now, this.goal, SHARE); this.paint(); return far > 0.3; });
  }

  size() { return {w: this.canvas.clientWidth, h: this.canvas.clientHeight}; }
  pair(line) { return line ? this.model.pairs.findIndex(([i, j]) => i === line[0] && j === line[1]) : null; }

  /** How each pair is drawn at this step. */
  links(lit) {
    const {model, key, given} = this, arrow = (state, opacity = 1) => (
      {kind: "correct", opacity: state === ABSENT ? 0 : opacity, forth: state === FORTH ? opacity : 0, back: state === BACK ? opacity : 0});
    const mixed = (p, [line, forth, back]) => ({kind: model.truth[p] === ABSENT ? "false_positive" : "correct",
      opacity: Math.min(1, line + forth + back), forth, back});
    if (given.methods[key]) return (p) => this.graph.shares(given.methods[key], this.at, p);
    if (key === "hospitals") return (p) => mixed(p, given.together[p]);
    if (key === "limits") return (p) => arrow(model.truth[p]);
    if (key === "causes" || key === "table") return (p) => arrow(model.causal[p]);
    if (key === "patient") return (p) => p === lit ? {kind: "untested", opacity: 1, forth: 0, back: 0} : NOTHING;
    if (lit !== null) return (p) => p === lit ? {kind: "open", opacity: key === "line" ? 1 - this.wrong() : 1, forth: 0, back: 0} : NOTHING;
    return (p) => arrow(model.causal[p], 0.25);
  }

  /** The share of noisy strengths on the other side of the threshold. */
  wrong() {
    const {score, level, sensitivity, each} = this.given.tests[this.key], tail = below(level - score, sensitivity / (each * this.epsilon));
    return score < level ? 1 - tail : tail;
  }

  // Each step: where every dot goes, in which ink, and one sentence ---------------------------

  ink(k, ink, alpha = 0.8, far = 1) { Object.assign(this.dots[k], {ink, alpha, far}); }

  /** All dots by one rule. */
  placed(rule, said) { return {places: this.dots.map((_, k) => rule(k)), said}; }

  patient(box) {
    const [x, y] = grid(this.chosen, box), found = this.placed((k) => {
      this.ink(k, k === this.chosen ? "--found" : "--st-text-color", k === this.chosen ? 1 : 0.2, k === this.chosen ? 3 : 1);
      return grid(k, box);
    }, "Does smoking cause bronchitis?");
    return {...found, labels: [["this patient", x, y - 4 * this.radius]]};
  }

  causes(box) {
    return this.placed((k) => { this.ink(k, "--st-text-color", 0.2); return grid(k, box); }, `${this.model.links} arrows to find in the records of all dots`);
  }

  records({w, h}) {
    const {smokes, ill} = this.given, place = [0, 0, 0, 0], group = (k) => 2 * Number(smokes[k]) + Number(ill[k]);
    const all = [0, 1, 2, 3].map((g) => this.dots.filter((_, k) => group(k) === g).length);
    const across = Math.max(8, Math.round(Math.sqrt(0.7 * w / h * Math.max(all[0] + all[1], all[2] + all[3]) / 1.4)));
    const step = Math.min(0.42 * w / across, (h - 24) / (Math.ceil(Math.max(all[0] + all[1], all[2] + all[3]) / across) + 1));
    const floor = h - 24, found = this.placed((k) => {
      const g = group(k), side = g >> 1, n = place[g]++ + (g & 1 ? 0 : all[2 * side + 1]);
      this.ink(k, g & 1 ? "--false_positive" : "--found", 0.85);
      return [w * (0.27 + 0.46 * side) + (n % across - across / 2) * step, floor - (Math.floor(n / across) + 0.7) * step];
    }, "Orange: bronchitis. Blue: no bronchitis.");
    return {...found, labels: [["others", 0.27 * w, h - 6], ["smokers", 0.73 * w, h - 6]]};
  }

  noise(box) { return this.test(box); }
  line(box) { return this.test(box); }

  /** Noisy strengths as a pile; orange where noise decides differently. */
  test(box) {
    const {score, level, sensitivity, each} = this.given.tests[this.key], scale = sensitivity / (each * this.epsilon);
    const beyond = Math.max(0.4 * level, Math.min(6 * scale, 9 * level));
    const low = Math.min(0, Math.min(score, level) - beyond), high = Math.max(score, level) + beyond;
    const wrong = (v) => (v < level) !== (score < level);
    const {w, h} = box, places = this.pile({w, h: h - 22}, low, high, (k) => {
      const v = score + laplace(scale, () => this.uniform[k]);
      this.ink(k, wrong(v) ? "--false_positive" : "--found", 0.85);
      return v;
    });
    const x = w * (level - low) / (high - low);
    return {places, said: `With noise, ${Math.round(100 * this.wrong())} of 100 answers ${score < level ? "keep a link that the records do not have" : "lose this link"} (orange).`,
      rules: [[x, 16, x, h - 22]], labels: [["removed ←  → kept", x, 12], ["weak link", 0.12 * w, h - 4], ["strength with noise", 0.5 * w, h - 4], ["strong link", 0.88 * w, h - 4]]};
  }

  /** Values as dots above an axis. Values beyond its ends are hidden. */
  pile({w, h}, low, high, value, from = 0, to = MANY, floor = h - 6, up = 1, tall = h - 12) {
    const bins = new Map(), at = [], wide = 2 * this.radius;
    for (let k = from; k < to; k++) {
      const x = w * (value(k) - low) / (high - low), bin = x < 0 || x > w ? null : Math.round(x / wide), n = bins.get(bin) || 0;
      if (bin !== null) bins.set(bin, n + 1);
      at.push([bin === null ? Math.max(-AWAY, Math.min(w + AWAY, x)) : bin * wide, n]);
    }
    const step = Math.min(wide, tall / Math.max(1, ...bins.values()));
    return at.map(([x, n]) => [x, floor - up * (n + 0.5) * step]);
  }

  person(box) {
    const {scores, sensitivity} = this.given.pair, scale = sensitivity / this.epsilon, middle = (scores[0] + scores[1]) / 2;
    const reach = 2.2 * Math.abs(scores[0] - scores[1]) + 1.5 * Math.min(scale, 4 * Math.abs(scores[0] - scores[1])), half = box.h / 2;
    const some = (which) => this.pile(box, middle - reach, middle + reach, (k) => {
      this.ink(k, which ? "--false_positive" : "--found", 0.85);
      return scores[which] + laplace(scale, () => this.uniform[k]);
    }, which * MANY / 2, (which + 1) * MANY / 2, half, which ? -1 : 1, half - 8);
    return {places: [...some(0), ...some(1)], said: "An answer with dots of both colours fits both tables.",
      rules: [[0, half, box.w, half, true]], labels: [["answers from table A", 0.12 * box.w, 14], ["answers from table B", 0.12 * box.w, box.h - 6]]};
  }

  /** A hundred groups of ten dots, each in a little disc. */
  hundred({w, h}, ink, said, shape = disc) {
    const across = w > 2.2 * h ? 20 : 10, rows = 100 / across, step = Math.min(w / across, h / rows), left = (w - step * across) / 2, top = (h - step * rows) / 2;
    return this.placed((k) => {
      const cell = k % 100;
      this.ink(k, ...ink(cell));
      return shape(Math.floor(k / 100), [left + (cell % across + 0.5) * step, top + (Math.floor(cell / across) + 0.5) * step], 0.11 * step);
    }, said);
  }

  guessing(box) {
    const right = guesses(this.epsilon);
    return this.hundred(box, (cell) => cell < Math.min(50, right) ? ["--st-border-color", 0.9] : cell < right ? ["--false_positive", 0.95] : ["--st-text-color", 0.25],
      `At most ${right} of 100 guesses about a person are right: 50 by chance (grey), ${right - 50} because of the result (orange). The pale ones are wrong.`);
  }

  coins(box, spent, way) {
    const key = this.given.methods[this.key], all = counts(this.model, key, this.at);
    return this.hundred(box, (cell) => cell < Math.round(spent) ? ["--found", 0.95] : ["--st-text-color", 0.25],
      `${way}: ${Math.round(spent)} of 100 coins spent (blue). On average ${figure(mean(all, "found"))} of ${this.model.links} links found, ${figure(mean(all, "false_positive"))} false (dashed).`, ring);
  }

  budget(box) { return this.coins(box, this.given.spent[this.at], "Priv-PC"); }
  once(box) { return this.coins(box, 100, "Marginal PC"); }

  hospitals({w, h}) {
    const many = this.given.hospitals, wide = Math.min(w / many, 0.8 * h), step = wide / 2.2 / Math.sqrt(MANY / many), y = h - wide / 2;
    const found = this.placed((k) => {
      this.ink(k, "--found", 0.8);
      return disc(Math.floor(k / many), [w * (k % many + 0.5) / many, y], step);
    }, `Each dot stands for ${many * this.given.patients / MANY} patients. The graph is what all ${many} hospitals find together.`);
    const rules = Array.from({length: many}, (_, k) => [w * (k + 0.5) / many, y - wide / 2, w / 2 + (k + 0.5 - many / 2) * 24, 20, true]);
    return {...found, rules, labels: [["↑ tables of counts with noise, no records", w / 2, 14]]};
  }

  limits(box) {
    return this.placed((k) => { this.ink(k, this.given.smokes[k] ? "--false_positive" : "--st-text-color", this.given.smokes[k] ? 0.8 : 0.15); return grid(k, box); },
      "Orange: smokers. A result about smokers concerns each of them.");
  }

  table(box) {
    return this.placed((k) => { this.ink(k, "--found", 0.5); return grid(k, box); }, "Your rows, your columns, your choice of ε");
  }

  paint() {
    const found = sheet(this.canvas);
    if (!found) return;
    const {pen, ink} = found, inks = new Map(), {radius} = this;
    const colour = (name) => inks.get(name) || inks.set(name, ink(name)).get(name);
    pen.strokeStyle = colour("--st-text-color");
    for (const [x, y, to, down, solid] of this.rules) {
      pen.setLineDash(solid ? [] : [5, 4]);
      pen.beginPath(); pen.moveTo(x, y); pen.lineTo(to, down); pen.stroke();
    }
    pen.setLineDash([]);
    this.now.forEach(([x, y], k) => {
      const dot = this.dots[k];
      pen.globalAlpha = dot.alpha;
      pen.fillStyle = colour(dot.ink);
      pen.beginPath(); pen.arc(x, y, radius * dot.far, 0, 7); pen.fill();
    });
    pen.globalAlpha = 1;
    Object.assign(pen, {fillStyle: colour("--st-text-color"), font: "14px system-ui, sans-serif", textAlign: "center"});
    for (const [text, x, y] of this.labels) {
      const half = pen.measureText(text).width / 2 + 2, {w} = this.size();
      pen.fillText(text, Math.max(half, Math.min(w - half, x)), y);
    }
  }
}

const steps = [...document.querySelectorAll(".step")], root = el("div", {class: "stage scene"});
document.documentElement.classList.add("moving");
document.querySelector("main").insertBefore(root, document.querySelector(".steps"));
const stage = new Stage(root, JSON.parse(document.getElementById("stage").textContent));
const enter = (step) => { steps.forEach((one) => one.classList.toggle("here", one === step)); stage.enter(step.id); };
steps[0].classList.add("here");
stage.begin(steps[0].id);
const near = new IntersectionObserver((seen) => { for (const {isIntersecting, target} of seen) if (isIntersecting) enter(target); },
  {rootMargin: "-58% 0px -41% 0px"});
steps.forEach((step) => near.observe(step));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => stage.paint());
