// A crowd, one changed answer, one noisy output, a guess, and the limit of all guesses.
import {Picture, el, keyed, range, sheet} from "./dom.js";
import {below, laplace, short} from "./noise.js";

const NAMES = ["A", "B"], MANY = 1000, PACE = 12, LOW = 0.35;

/** The largest share of right guesses: e^eps / (1 + e^eps). */
export function wall(epsilon) { return 1 / (1 + Math.exp(-epsilon)); }

export class Person extends Picture {
  least = 720;

  /** @param {{cells: number[], table: number[][], people: number, levels: string[][], titles: string[], z: number, moved: (number | null)[][], sensitivity: number, epsilon: number, farthest: number[], digest: string}} given */
  show(given) {
    if (!this.fresh(given)) { this.paint(); return; }
    Object.assign(this, {who: null, target: null, epsilon: given.epsilon});
    if (!this.crowd) this.build();
    this.forget();
    this.tell();
  }

  build() {
    this.root.className = "scene person";
    const canvas = (label) => el("canvas", label ? {role: "img", "aria-label": label} : {"aria-hidden": "true"});
    this.crowd = el("canvas", {class: "crowd", tabindex: 0, role: "application", "aria-label": "The crowd: choose a person with the arrow keys, Enter changes their answer"});
    this.outputs = canvas("Probable outputs of A and of B");
    this.scores = canvas("The share of right guesses");
    this.said = el("p", {class: "sentence", "aria-live": "polite"});
    this.choices = el("div", {class: "buttons"});
    this.tables = el("div", {class: "tables"});
    this.eps = range("epsilon of the output", {min: -2, max: 1, step: 0.02,
      oninput: () => { this.epsilon = Number((10 ** Number(this.eps.value)).toPrecision(2)); this.forget(); this.tell(false); }});
    this.value = el("b", {class: "value"});
    this.tally = el("p", {class: "tally"});
    this.root.replaceChildren(el("div", {class: "two"},
      el("div", {}, this.crowd, this.tables),
      el("div", {}, this.said, this.choices, el("div", {class: "sheet"}, this.outputs), el("div", {class: "sheet"}, this.scores), this.tally)),
    el("div", {class: "panel buttons"}, el("span", {}, "much noise"), this.eps, el("span", {}, "little noise"), this.value));
    this.crowd.addEventListener("click", (e) => this.pick(this.under(e)));
    keyed(this.crowd, {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}, ([right, down]) => {
      const by = right + down * this.across, n = this.given.cells.length;
      this.pick(((this.who ?? -by) + by + n) % n);
    });
    this.watch(() => this.paint());
  }

  /** Other tables or another epsilon start a new game. */
  forget() { this.out = null; this.guesses = []; this.last = null; this.running = false; }

  get across() { return this.root.clientWidth < this.least ? 25 : 50; }
  get scale() { return this.given.sensitivity / this.epsilon; }
  get apart() { return this.who !== null && this.target !== null; }
  get scoresOf() { return [this.given.z, this.given.moved[this.given.cells[this.who]][this.target]]; }

  /** The share of right best guesses on these two tables: 1/2 plus half the total variation. */
  get best() {
    const [a, b] = this.scoresOf, gap = Math.abs(a - b);
    return below(gap / 2, this.scale);
  }

  /** The most frequent answer to each of the two questions: rarer answers are marked. */
  get usual() {
    const {table} = this.given, sum = (all) => all.reduce((a, b) => a + b, 0), top = (all) => all.indexOf(Math.max(...all));
    return [top(table.map(sum)), top(table[0].map((_, c) => sum(table.map((row) => row[c]))))];
  }

  under(e) {
    const box = this.crowd.getBoundingClientRect(), rows = Math.ceil(this.given.cells.length / this.across);
    const col = Math.floor((e.clientX - box.left) / box.width * this.across), row = Math.floor((e.clientY - box.top) / box.height * rows);
    return Math.min(this.given.cells.length - 1, row * this.across + Math.min(this.across - 1, col));
  }

  pick(who) { this.who = who; this.target = null; this.forget(); this.tell(); }
  change(cell) { this.target = cell; this.forget(); this.tell(); }

  release() {
    this.which = Math.random() < 0.5 ? 0 : 1;
    this.out = this.scoresOf[this.which] + laplace(this.scale);
    this.last = null;
    this.tell();
  }

  /** The table that makes the output likelier: the best guess. */
  likelier(out) { const [a, b] = this.scoresOf; return Math.abs(out - b) < Math.abs(out - a) ? 1 : 0; }

  bet(which) { this.last = which === this.which; this.guesses.push(this.last); this.tell(); }

  thousand() {
    this.guesses = [];
    this.running = true;
    const some = (count) => {
      const [a, b] = this.scoresOf;
      for (let k = 0; k < count; k++) {
        const which = Math.random() < 0.5 ? 0 : 1, out = (which ? b : a) + laplace(this.scale);
        this.guesses.push(this.likelier(out) === which);
      }
    };
    if (this.still) { some(MANY); this.running = false; this.tell(); return; }
    this.animate(() => {
      if (!this.running) return false;
      some(Math.min(MANY - this.guesses.length, PACE));
      this.running = this.guesses.length < MANY;
      this.paint(false);
      this.count();
      return this.running;
    });
  }

  cellName(cell) { const {titles, levels} = this.given, b = levels[1].length; return `${titles[0]} ${levels[0][Math.floor(cell / b)]}, ${titles[1]} ${levels[1][cell % b]}`; }

  /** Draw the sentence, the choices and the curves; with ``all`` also the tables and the crowd, which do not depend on the dials. */
  tell(all = true) {
    const {given} = this, name = (which) => el("b", {}, NAMES[which]), own = this.who === null ? null : given.cells[this.who];
    const say = (...parts) => this.said.replaceChildren(...parts), offer = (...nodes) => this.choices.replaceChildren(...nodes);
    const button = (words, act, main) => el("button", {class: main ? "main" : "", onclick: act}, words);
    if (own === null) {
      const rare = (k) => { const l = given.levels[k], at = this.usual[k]; return `${given.titles[k]} ${l.length === 2 ? `“${l[1 - at]}”` : `not “${l[at]}”`}`; };
      say(`Each dot is a person: ${given.cells.length.toLocaleString("en")} of ${given.people.toLocaleString("en")} are shown. Full: ${rare(0)}; ringed: ${rare(1)}. Click one.`);
      offer(button("Choose the person who matters most", () => { const [from, to] = given.farthest; this.pick(given.cells.indexOf(from)); this.change(to); }));
    } else if (this.target === null) {
      say(`Person ${this.who + 1}: ${this.cellName(own)}. Change the answer to:`);
      offer(...given.moved[own].map((z, cell) => z === null ? "" : button(this.cellName(cell), () => this.change(cell))));
    } else if (this.out === null) {
      say("Two tables now, ", name(0), " and ", name(1), ": they differ in one person. A coin picks one. The strength of the link in it (the test statistic) is released with noise.");
      offer(button("Release one output", () => this.release(), true), this.manyButton());
    } else if (this.last === null) {
      say("The noisy strength is ", el("b", {}, this.out.toPrecision(5)), ". Which table did it come from?");
      offer(...NAMES.map((n, k) => button(`It was ${n}`, () => this.bet(k), true)));
    } else {
      say(el("b", {class: this.last ? "found" : "false_positive"}, this.last ? "Right" : "Wrong"), `: ${this.out.toPrecision(5)} came from `, name(this.which), `. At this ε ${NAMES[this.likelier(this.out)]} makes it likelier, as the curves show.`);
      offer(button("Release another", () => this.release(), true), this.manyButton());
    }
    if (all) this.both(own);
    this.paint(all);
    this.count();
  }

  manyButton() { return el("button", {onclick: () => this.thousand()}, "A thousand guesses by the best guesser"); }

  /** Draw table A with table B next to it. */
  both(own) {
    const {table, levels, titles, z} = this.given, b = levels[1].length;
    const one = (which) => {
      const score = which ? (this.apart ? this.scoresOf[1] : z) : z, changed = (cell) => this.apart && (cell === own || cell === this.target);
      const count = (r, c) => { const cell = r * b + c; return table[r][c] + (which && this.apart ? (cell === this.target) - (cell === own) : 0); };
      return el("table", {}, el("caption", {}, `${NAMES[which]}: strength ${score.toPrecision(5)}`),
        el("thead", {}, el("tr", {}, el("th", {}, `${titles[0]} ↓  ${titles[1]} →`), ...levels[1].map((l) => el("th", {}, l)))),
        el("tbody", {}, ...levels[0].map((l, r) => el("tr", {}, el("th", {}, l), ...levels[1].map((_, c) => el("td", {class: changed(r * b + c) ? "here" : ""}, count(r, c).toLocaleString("en")))))));
    };
    this.tables.replaceChildren(one(0), ...(this.apart ? [one(1)] : []));
  }

  count() {
    const right = this.guesses.filter(Boolean).length, of = this.guesses.length, pct = (x) => `${(100 * x).toFixed(1)}\u00a0%`;
    this.value.textContent = `ε = ${short(this.epsilon)}`;
    this.eps.value = String(Math.log10(this.epsilon));
    const best = this.apart ? ` On these two tables: ${pct(this.best)}.` : "";
    this.tally.textContent = `${of ? `Right: ${right} of ${of}, ${pct(right / of)}.` : "No guess yet."}${best} Best possible at this ε: ${pct(wall(this.epsilon))}. Chance: 50 %.`;
    this.root.dataset.state = JSON.stringify({who: this.who, target: this.target, epsilon: this.epsilon, right, of, wall: wall(this.epsilon),
      ...(this.apart ? {best: this.best, scores: this.scoresOf, scale: this.scale} : {})});
  }

  paint(all = true) {
    this.fold();
    if (all) this.paintCrowd();
    this.paintOutputs();
    this.paintScores();
  }

  paintCrowd() {
    const found = sheet(this.crowd);
    if (!found) return;
    const {pen, w, h, ink} = found, {cells, levels} = this.given, b = levels[1].length, rows = Math.ceil(cells.length / this.across);
    const [usual, other] = this.usual;
    const r = Math.min(w / this.across, h / rows) * 0.36;
    cells.forEach((cell, k) => {
      const x = (k % this.across + 0.5) * w / this.across, y = (Math.floor(k / this.across) + 0.5) * h / rows, rare = Math.floor(cell / b) !== usual;
      pen.beginPath(); pen.arc(x, y, r, 0, 7);
      pen.fillStyle = ink(rare ? "--found" : "--missed");
      pen.globalAlpha = rare ? 1 : 0.3;
      pen.fill();
      pen.globalAlpha = 1;
      if (cell % b !== other) { pen.strokeStyle = ink("--false_positive"); pen.lineWidth = 2; pen.stroke(); }
      if (k === this.who) { pen.beginPath(); pen.arc(x, y, r + 4, 0, 7); pen.strokeStyle = ink("--st-text-color"); pen.lineWidth = 3; pen.stroke(); }
    });
  }

  paintOutputs() {
    const found = sheet(this.outputs, 13);
    if (!found) return;
    const {pen, w, h, ink} = found, floor = h - 20, text = ink("--st-text-color"), [a, b] = this.apart ? this.scoresOf : [this.given.z, this.given.z];
    const middle = (a + b) / 2, reach = Math.max(4 * this.scale, 1.15 * Math.abs((this.out ?? middle) - middle));
    const x = (v) => w * (v - middle + reach) / (2 * reach);
    pen.strokeStyle = pen.fillStyle = text;
    pen.beginPath(); pen.moveTo(0, floor); pen.lineTo(w, floor); pen.stroke();
    pen.textAlign = "center";
    for (const v of [middle - 0.8 * reach, middle, middle + 0.8 * reach]) pen.fillText(short(v), x(v), h - 5);
    if (this.apart && (this.last !== null || this.guesses.length)) {  // only after a guess
      [a, b].forEach((at, k) => {
        pen.beginPath();
        for (let i = 0; i <= 240; i++) {
          const v = middle - reach + 2 * reach * i / 240, y = floor - (floor - 26) * Math.exp(-Math.abs(v - at) / this.scale);
          i ? pen.lineTo(x(v), y) : pen.moveTo(x(v), y);
        }
        pen.strokeStyle = pen.fillStyle = ink(k ? "--false_positive" : "--found");
        pen.lineWidth = 3; pen.stroke();
        pen.fillText(NAMES[k], x(at) + (a <= b === (k === 0) ? -12 : 12), 20);
      });
    }
    if (this.out !== null) {
      pen.strokeStyle = pen.fillStyle = text;
      pen.lineWidth = 2;
      pen.beginPath(); pen.moveTo(x(this.out), 26); pen.lineTo(x(this.out), floor); pen.stroke();
      pen.beginPath(); pen.arc(x(this.out), floor, 7, 0, 7); pen.fill();
    }
  }

  paintScores() {
    const found = sheet(this.scores, 12);
    if (!found) return;
    const {pen, w, h, ink} = found, left = 40, top = 16, floor = h - 8, n = Math.max(20, this.guesses.length);
    const x = (k) => left + (w - left - 8) * k / n, y = (v) => floor - (floor - top) * Math.max(0, (v - LOW) / (1 - LOW));
    const line = (v, words, dash, colour) => {
      pen.strokeStyle = pen.fillStyle = colour;
      pen.setLineDash(dash); pen.lineWidth = dash.length ? 1.2 : 3;
      pen.beginPath(); pen.moveTo(left, y(v)); pen.lineTo(w - 8, y(v)); pen.stroke();
      pen.setLineDash([]);
      pen.textAlign = "right";
      pen.fillText(words, left - 4, y(v) + 4);
    };
    line(0.5, "50 %", [4, 4], ink("--st-text-color"));
    if (this.apart) line(this.best, "", [2, 3], ink("--found"));
    line(wall(this.epsilon), "best", [], ink("--false_positive"));
    let right = 0;
    this.guesses.forEach((hit, k) => {
      right += hit;
      pen.fillStyle = ink(hit ? "--found" : "--false_positive");
      pen.globalAlpha = this.guesses.length > 200 ? 0.6 : 1;
      pen.beginPath(); pen.arc(x(k + 0.5), y(right / (k + 1)), this.guesses.length > 100 ? 2.2 : 4, 0, 7); pen.fill();
    });
    pen.globalAlpha = 1;
  }
}
