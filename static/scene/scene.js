// The scene: one graph, one dial, a dot per draw and one sentence. It sends no requests to a server.
import {Picture, add, counted, el, figure, marks, range} from "./dom.js";
import {Dots} from "./dots.js";
import {Graph, sign} from "./graph.js";
import {Hundred} from "./hundred.js";
import {counts, frame, guesses, mean, most, nearest, read, ready, share, drowns, count, ABSENT} from "./model.js";

const HOLD = 170;  // milliseconds between draws while Shake is held

const place = (frame) => [frame.algorithm, frame.epsilon, frame.draw, Boolean(frame.ghost)].join(" ");

export class Scene extends Picture {
  table = false;
  due = 0;

  /** Show a page's data. Draw the same data again, because the theme or the frame may differ. */
  show(given) {
    this.start = given.start || {};
    const other = this.asked.other(place(this.start));
    if (given.digest !== this.digest) { this.digest = given.digest; this.load(given); }
    else if (this.dots) { if (other) this.begin(); this.draw(); }
  }

  /** Show a scene, or more draws of the one that is shown. */
  async load(given) {
    const same = this.given && this.given.scene.dataset === given.scene.dataset;
    const model = await read(given.scene);
    this.given = given;
    this.model = model;
    if (!same) {
      this.begin();
      this.build();
    }
    this.layOut();
  }

  /** Show the frame that the page asks for. */
  begin() {
    const {model, start} = this;
    this.state = {
      method: model.methods.some((m) => m.key === start.algorithm) ? start.algorithm : this.given.first,
      at: nearest(model, start.epsilon || 1), draw: Math.min(start.draw || 0, model.draws - 1),
      ghost: Boolean(start.ghost),
    };
    this.wish = this.state.at;
    this.lit = null;
  }

  build() {
    this.root.replaceChildren();
    this.rows = "";
    this.root.className = "scene";
    this.graph = new Graph({role: "img"}, (p) => { this.lit = p; this.draw(); });
    this.hundred = new Hundred();
    const canvas = el("canvas", {"aria-hidden": "true"});
    this.dots = new Dots(canvas);
    this.parts = {
      sentence: el("p", {class: "sentence"}), live: el("p", {class: "unseen", "aria-live": "polite"}),
      about: el("p", {class: "about"}), hint: el("p", {class: "hint"}),
      value: el("button", {class: "value", title: "Type another", onclick: () => this.type()}),
      steps: el("ul", {class: "steps"}), table: el("div", {class: "table", hidden: true}),
      methods: this.methods(), buttons: this.buttons(),
    };
    this.parts.about.textContent = this.given.about;
    this.dial = range("How much may a single record show: epsilon", {max: this.model.epsilons.length - 1,
      oninput: () => this.turn(Number(this.dial.value)), onchange: () => this.rest(), ondblclick: () => this.type()});
    const p = this.parts;
    this.root.append(
      el("div", {class: "top"}, el("h2", {class: "question"}, this.given.question), p.about),
      el("div", {class: "main"}, p.methods, el("div", {class: "stage"}, this.graph.svg), p.table,
        el("div", {class: "panel priced"}, el("div", {class: "turns"}, this.dial, el("div", {class: "ends"},
          el("span", {}, "strong privacy"), p.value, el("span", {}, "weak privacy"))), this.hundred.node), p.buttons),
      el("div", {class: "side"}, p.sentence, p.live,
        el("h2", {}, "Every draw of the noise"), el("div", {class: "sheet"}, canvas),
        el("h2", {}, "Where links are lost"), p.steps, p.hint, this.legend()));
    this.root.onkeydown = (e) => this.key(e);
    this.watch(() => this.layOut());
  }

  methods() {
    const group = el("div", {class: "methods", role: "radiogroup", "aria-label": "Method"});
    for (const m of this.model.methods) {
      group.append(el("label", {}, el("input", {
        type: "radio", name: "method", value: m.key, onchange: () => { this.state.method = m.key; this.draw(); this.rest(); },
      }), el("span", {}, m.title)));
    }
    return group;
  }

  buttons() {
    const shake = el("button", {class: "shake"}, "Draw new noise");
    shake.addEventListener("pointerdown", () => { this.shake(); this.held = setInterval(() => this.shake(), HOLD); });
    const let_go = () => { clearInterval(this.held); this.rest(); };
    ["pointerup", "pointerleave", "pointercancel"].forEach((name) => shake.addEventListener(name, let_go));
    shake.addEventListener("click", (e) => { if (e.detail === 0) { this.shake(); this.rest(); } });
    const ghost = el("button", {class: "ghost", "aria-pressed": "false", onclick: () => this.ghost()}, "Overlay all draws");
    const table = el("button", {"aria-pressed": "false", class: "as-table", onclick: () => { this.table = !this.table; this.draw(); }}, "As a table");
    const row = el("div", {class: "buttons"}, shake, ghost, table);
    if (this.hooks.yours) row.append(el("button", {class: "yours", onclick: () => this.hooks.yours(this.frame())}, "Open in Run →"));
    return row;
  }

  /** The meaning of each kind of line. */
  legend() {
    const list = el("ul", {class: "legend"});
    for (const [kind, {word, marker}] of Object.entries(marks)) {
      if (kind === "found") continue; // the headline's count, which these classes split
      const svg = add("svg", {viewBox: "0 0 40 14", "aria-hidden": "true"});
      const g = add("g", {class: `link ${kind}`}, svg);
      add("path", {d: "M0 7H40", class: kind === "missed" ? "shadow" : "wire"}, g);
      add("path", {d: sign(marker, [20, 7]), class: "head"}, g);
      list.append(el("li", {}, svg, word));
    }
    return list;
  }

  /** The frame, in the engine's terms. */
  frame() {
    const {method, at, draw, ghost} = this.state;
    return {algorithm: method, epsilon: this.model.epsilons[at], draw, ghost};
  }

  layOut() {
    this.graph.fit(this.model, this.given, this.fold());
    this.draw();
  }

  /** The nearest epsilon with a draw, while some draws are still being made. */
  made(at) {
    const far = this.model.epsilons.map((_, k) => k).sort((a, b) => Math.abs(a - at) - Math.abs(b - at));
    return far.find((k) => ready(this.model, this.state.method, k)) ?? at;
  }

  turn(at) { this.wish = at; this.ask(); }
  shake() {
    this.state.ghost = false;
    this.state.draw = (this.state.draw + 1) % Math.max(1, ready(this.model, this.state.method, this.state.at));
    this.draw();
  }
  ghost() { this.state.ghost = !this.state.ghost; this.draw(); this.rest(); }

  /** Draw once with the next frame, however many calls there were. */
  ask() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => { this.due = 0; this.draw(); });
  }

  /** Report the frame to the page. A key's change comes before the next frame is drawn. */
  rest() {
    if (this.due) { cancelAnimationFrame(this.due); this.due = 0; this.draw(); }
    this.parts.live.textContent = this.parts.sentence.textContent;
    const at = place(this.frame());
    if (at !== this.asked.sent.at(-1)) this.asked.told(at);
    this.hooks.rested(this.frame());
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.type === "number") return;
    if (e.key === "s") { this.shake(); this.rest(); }
    else if (e.key === "g") this.ghost();
    else if (e.key === "Escape") { this.lit = null; if (this.state.ghost) this.ghost(); else this.draw(); }
  }

  /** Type an epsilon in place of the value. */
  type() {
    const field = el("input", {type: "number", class: "typed", min: this.model.epsilons[0], max: this.model.epsilons.at(-1),
      step: "any", value: this.model.epsilons[this.state.at], "aria-label": "epsilon"});
    let open = true; // removing the field blurs it, which would accept a value that Escape discards
    const done = (take) => {
      if (!open) return;
      open = false;
      field.replaceWith(this.parts.value);
      if (take && Number(field.value) > 0) { this.wish = nearest(this.model, Number(field.value)); this.draw(); this.rest(); }
      this.parts.value.focus();
    };
    field.addEventListener("keydown", (e) => {
      e.stopPropagation();
      if (e.key === "Enter") e.preventDefault(); // otherwise the key would press the value, which then has the focus
      if (e.key === "Enter" || e.key === "Escape") done(e.key === "Enter");
    });
    field.addEventListener("blur", () => done(true));
    this.parts.value.replaceWith(field);
    field.select();
  }

  /** True if the method adds no noise, so that there is only one result. */
  get exact() { return !this.model.methods.find((m) => m.key === this.state.method).private; }

  draw() {
    const {model, state, exact} = this;
    state.at = this.made(this.wish);
    const all = counts(model, state.method, state.at);
    state.draw = Math.min(state.draw, Math.max(0, all.length - 1));
    const ghost = state.ghost && !exact && all.length > 1;
    this.root.dataset.state = JSON.stringify(this.frame());
    this.root.classList.toggle("exact", exact);
    this.dial.value = String(state.at);
    this.dial.setAttribute("aria-valuetext", `epsilon ${model.epsilons[state.at]}`);
    this.parts.value.textContent = `ε = ${model.epsilons[state.at]}`;
    this.root.querySelectorAll(".methods input").forEach((i) => { i.checked = i.value === state.method; });
    this.root.querySelector(".ghost").setAttribute("aria-pressed", String(state.ghost));
    this.root.querySelectorAll(".shake, .ghost").forEach((button) => { button.disabled = exact; });
    this.root.querySelector(".as-table").setAttribute("aria-pressed", String(this.table));
    if (!all.length) { this.parts.sentence.textContent = "These draws are being made …"; return; }
    this.graph.draw(state.method, state.at, state.draw, ghost, this.lit);
    const right = guesses(model.epsilons[state.at]);
    this.hundred.show(exact ? 100 : right, exact, exact ? this.given.noPromise : this.given.promise.replace("{right}", right));
    const free = count(model, frame(model, "pc", state.at, 0)).found;
    this.dots.show({links: model.links, most: most(model, state.method), free, counts: exact ? all.slice(0, 1) : all, chosen: ghost || exact ? null : state.draw});
    this.words(all, ghost, exact);
    this.steps(ghost || exact ? mean(all, "found") : all[state.draw].found, exact, ghost);
    this.hint();
    this.asTable(all.length);
  }

  words(all, ghost, exact) {
    const {model, state, parts} = this, one = all[state.draw];
    const value = (name) => ghost ? Number(figure(mean(all, name))) : one[name];
    const strong = (kind, text) => el("b", {class: kind}, text);
    const said = (kind) => strong(kind, counted(kind, value(kind)));
    const bits = [strong("found", counted("found", value("found"), model.links)), ", ", said("false_positive")];
    if (value("untested")) bits.push(", ", said("untested"));
    if (ghost) bits.push(`, on average over ${all.length} draws`);
    else if (!exact) bits.push(` in draw ${state.draw + 1} of ${all.length}`);
    const turned = ["reversed", "undirected", "not_identifiable"].filter(value);
    turned.forEach((kind, k) => bits.push(k === 0 ? ". Among the links found: " : k < turned.length - 1 ? ", " : " and ", said(kind)));
    parts.sentence.replaceChildren(...bits, ".");
    this.graph.svg.setAttribute("aria-label", parts.sentence.textContent);
  }

  steps(left, exact, ghost) {
    const rows = (this.given.steps[this.state.method] || []).map((s) => [s.links, s.words]);
    if (!exact) rows.push([left, ghost ? "what noise leaves, on average" : "what noise leaves, in this draw"]);
    this.parts.steps.replaceChildren(...rows.map(([links, words], k) => el("li", {class: k === rows.length - 1 && !exact ? "last" : ""},
      el("b", {}, figure(links)), el("span", {class: "bar"}, Object.assign(el("i"), {style: `width:${100 * links / this.model.links}%`})), el("span", {}, words))));
  }

  hint() {
    const {model, state, lit, parts, exact} = this;
    if (lit === null) { parts.hint.textContent = exact || this.table ? "" : "Point at a link to see how often it is found and the ε below which it is lost."; return; }
    const [i, j] = model.pairs[lit], t = this.given.titles, s = share(model, state.method, state.at, lit);
    const real = model.truth[lit] !== ABSENT, from = drowns(model, state.method, lit);
    const back = model.causal[lit] === 3, name = real ? `${t[back ? j : i]} → ${t[back ? i : j]}` : `${t[i]} – ${t[j]} (no such link)`;
    if (exact) { parts.hint.textContent = `${name}: ${s.linked ? "found" : "not found"}.`; return; }
    const where = !real ? "" : from === null ? " Most draws never find it." :
      from === 0 ? " Most draws find it at every ε." : ` Below ε = ${model.epsilons[from]} it is lost.`;
    parts.hint.textContent = `${name}: in ${s.linked} of ${s.of} draws at this ε.${where}`;
  }

  asTable(of) {
    const {model, state, parts} = this, t = this.given.titles;
    parts.table.hidden = !this.table;
    this.graph.svg.parentElement.hidden = this.table;
    if (!this.table) return;
    const rows = [];
    model.pairs.forEach(([i, j], p) => {
      const s = share(model, state.method, state.at, p), real = model.truth[p] !== ABSENT;
      if (!s.linked && !real) return;
      rows.push([t[i], t[j], real ? "yes" : "no", `${s.linked} of ${of}`, `${s.forth}`, `${s.back}`]);
    });
    const said = rows.join("\n");
    if (said === this.rows) return; // a selection in the table stays
    this.rows = said;
    const row = (tag, cells) => el("tr", {}, ...cells.map((c) => el(tag, {}, c)));
    parts.table.replaceChildren(el("table", {}, el("thead", {}, row("th", ["From", "To", "A true link", "Draws that hold it", "Arrow →", "Arrow ←"])),
      el("tbody", {}, ...rows.map((cells) => row("td", cells)))));
  }
}
