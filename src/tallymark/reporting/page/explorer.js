/* The sliders: threshold, prevalence and costs, and the pictures that follow them. */

/* The four cells at a prevalence, in the same order of operations as the library. */
function cellsOf(model, found, alarms, prevalence) {
  const n = model.P + model.N;
  const [down, up] = prevalence === null ? [1, 1] : [(1 - prevalence) * n / model.N, prevalence * n / model.P];
  const tp = found * up, fp = alarms * down;
  return { tp, fp, fn: model.P * up - tp, tn: model.N * down - fp };
}
const cellsAt = (model, index, prevalence) => cellsOf(model, model.tp[index], model.fp[index], prevalence);

const threshold = (value) => (typeof value === "number" ? value : Infinity);
const thresholdText = (value) => (typeof value === "number" ? shownNumber(value) : "above all scores");

function explorer(found) {
  const models = found.models;
  const state = { model: found.first, beside: found.second, at: models.map((m) => m.start), prevalence: found.prevalence };
  const own = (model) => model.P / (model.P + model.N);
  const moved = () => state.prevalence !== found.prevalence;

  /* ---- controls ---- */
  models.forEach((model, i) => {
    $("model").add(new Option(model.name, i));
    $("beside").add(new Option(model.name, i));
  });
  $("model-label").hidden = models.length < 2;
  $("beside-label").hidden = models.length < 2;
  const live = document.querySelector("#live tbody"), rest = document.querySelector("#rest tbody");
  const rows = {};
  for (const name of [...found.leading, ...Object.keys(FORMULAS).filter((n) => !found.leading.includes(n))]) {
    const row = (found.leading.includes(name) ? live : rest).insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    head.append(metricButton(name));
    row.append(head);
    rows[name] = [row.insertCell(), row.insertCell()];
    rows[name][0].id = `live-${name}`;
    rows[name].forEach((cell) => { cell.className = "number"; });
  }
  /* A number that was typed or asked for; an empty box has the library's default. */
  const names = Object.keys(found.parameters);
  const stated = (text) => { const typed = parseFloat(text); return Number.isFinite(typed) && typed >= 0 ? typed : null; };
  const typedAnew = () => names.filter((name) => stated($(name).value) !== stated($(name).defaultValue));
  /* Costs that are stated say at which probability one would act; else it is the threshold, where scores are probabilities. */
  function parameters(model, index) {
    const q = Object.fromEntries(names.map((name) => [name, stated($(name).value) ?? found.parameters[name]]));
    const costs = ["cost_fp", "cost_fn"], at = model?.acted_on ? threshold(model.thresholds[index]) : NaN;
    const byCosts = costs.some((name) => stated($(name).value) !== null) && q.cost_fp + q.cost_fn > 0;
    const asked = costs.some((name) => typedAnew().includes(name)) ? null : found.odds_at;
    const ofCosts = q.cost_fp / (q.cost_fp + q.cost_fn);
    q.odds_at = asked ?? (byCosts ? ofCosts : at >= 0 && at < 1 ? at : NaN);
    q.odds_of = asked !== null && asked !== ofCosts ? "as asked for" : byCosts ? "by the costs" : "the threshold";
    return q;
  }

  /* Limits that were computed for this position: those of the library, and none where it has said nothing. */
  function limitsOf(model, index, name) {
    const facts = DATA.glossary[name];
    if (moved() && facts.moves) return [null, null];
    if (facts.parameters.length && (typedAnew().some((p) => facts.parameters.includes(p)) || (facts.parameters.includes("odds_at") && typedAnew().some((p) => p.startsWith("cost"))))) return [null, null];
    if (index === model.start && model.chosen[name] && !moved()) return model.chosen[name];
    const there = model.limits[name];
    return there ? [there[0][index], there[1][index]] : [null, null];
  }

  /* ---- pictures ---- */
  const plots = {};
  const seen = () => [...new Set([state.model, state.beside])].filter((i) => i !== null);
  function curves() {
    const least = found.least;
    plots.roc = new Plot($("roc"), { x: least ? logarithmic(least, 1) : linear(0, 1), y: linear(0, 1), xTicks: least ? powersOfTen(least) : shares, yTicks: shares, xTitle: `false alarms among negatives${least ? " (logarithmic)" : ""}`, yTitle: "positives found" });
    plots.roc.faint(least ? powersOfTen(least).map(([v]) => [v, v]).flatMap(([v]) => [1, 2, 3, 5, 7].map((k) => [Math.min(k * v, 1), Math.min(k * v, 1)])) : [[0, 0], [1, 1]]);
    plots.pr = new Plot($("pr"), { x: linear(0, 1), y: linear(0, 1), xTicks: shares, yTicks: shares, xTitle: "positives found (recall)", yTitle: "alarms that are right" });
    const prior = state.prevalence ?? own(models[state.model]);
    plots.pr.faint([[0, prior], [1, prior]]);
    // The chosen model last, so that it lies on top.
    const order = models.map((_, i) => i).sort((a, b) => (a === state.model) - (b === state.model));
    for (const i of order) {
      const model = models[i], chosen = seen().includes(i);
      // Bands of models that nobody looks at would only darken the others.
      if (model.bands && chosen) {
        plots.roc.band(model.bands.roc.x, model.bands.roc.low, model.bands.roc.high, i);
        if (!moved()) plots.pr.band(model.bands.pr.x, model.bands.pr.low, model.bands.pr.high, i);
      }
      plots.roc.line(model.tp.map((tp, k) => [model.fp[k] / model.N, tp / model.P]), i, chosen);
      const curve = [];
      for (let k = model.tp.length - 1; k >= 0; k--) {
        const c = cellsAt(model, k, state.prevalence);
        if (c.tp + c.fp === 0) continue;
        const recall = c.tp / (c.tp + c.fn), precision = c.tp / (c.tp + c.fp);
        // Steps, as average precision adds them up.
        if (curve.length) curve.push([curve[curve.length - 1][0], precision]);
        curve.push([recall, precision]);
      }
      plots.pr.line(curve, i, chosen);
    }
    spread();
    costs();
    decisions();
  }
  /* The scores of the chosen model: positives above the line, negatives below it, each to its own height. */
  function spread() {
    const h = models[state.model].histogram, most = (values) => Math.max(...values, 1e-12);
    const [low, high] = [h.edges[0], h.edges[h.edges.length - 1]];
    plots.scores = new Plot($("scores"), { x: linear(low, high), y: linear(-1, 1), xTicks: h.ticks, yTicks: [], xTitle: h.logit ? "score (log odds)" : "score", yTitle: "" });
    const plot = plots.scores, zero = plot.py(0), unit = h.logit ? " (log odds)" : "";
    Object.assign(plot, { titles: [`from${unit}`, `to${unit}`, "share of positives", "share of negatives"], drawn: h.positive.map((v, k) => [models[state.model].name, h.edges[k], h.edges[k + 1], v, h.negative[k]]) });
    for (const [values, up, colour] of [[h.positive, 1, "var(--positive)"], [h.negative, -1, "var(--negative)"]]) {
      values.forEach((v, k) => {
        if (v <= 0) return;
        const [a, b, y] = [plot.px(h.edges[k]), plot.px(h.edges[k + 1]), plot.py(up * 0.92 * v / most(values))];
        svgElement(plot.lines, "rect", { x: a + 0.3, width: Math.max(b - a - 0.6, 0.5), y: Math.min(y, zero), height: Math.max(Math.abs(y - zero), 0.5), fill: colour, role: "graphics-symbol", "aria-label": `${perCent(v)} of the ${up > 0 ? "positives" : "negatives"}` });
      });
    }
    svgElement(plot.lines, "path", { d: `M${plot.left} ${zero}H${plot.right}`, stroke: "var(--faint)" });
    for (const [label, y] of [["positives", plot.top + 12], ["negatives", plot.bottom - 6]]) svgElement(plot.lines, "text", { x: plot.left + 3, y, "font-size": 11, fill: "var(--ink)" }, label);
  }
  /* Cost of 10 000 rows at every threshold. */
  const logOdds = (p) => (p >= 1 ? 12 : p <= 0 ? -12 : Math.max(Math.min(Math.log(p / (1 - p)), 12), -12));
  const place = (model, k) => (model.histogram.logit ? logOdds : (t) => t)(threshold(model.thresholds[k]));
  const costAt = (model, k, q) => { const c = cellsAt(model, k, state.prevalence); return 1e4 * (q.cost_fp * c.fp + q.cost_fn * c.fn) / (c.tp + c.fp + c.fn + c.tn); };
  function costs() {
    const q = parameters(), model = models[state.model], h = model.histogram, [low, high] = [h.edges[0], h.edges[h.edges.length - 1]];
    const values = Object.fromEntries(seen().map((i) => [i, models[i].tp.map((_, k) => costAt(models[i], k, q))]));
    // Predicting all or none positive bounds what anyone would look at.
    const prior = state.prevalence ?? own(model), naive = 1e4 * Math.min(q.cost_fp * (1 - prior), q.cost_fn * prior);
    const top = 2 * (naive || 1);
    plots.cost = new Plot($("cost"), { x: linear(low, high), y: linear(0, top), xTicks: h.ticks, yTicks: roundTicks(0, top), xTitle: h.logit ? "threshold (log odds)" : "threshold", yTitle: "cost of 10 000 rows" });
    plots.cost.faint([[low, naive], [high, naive]]);
    let any = false;
    for (const i of seen()) {
      const points = models[i].histogram.logit === h.logit ? values[i].map((v, k) => [place(models[i], k), v]).filter(([x]) => Number.isFinite(x)) : [];
      any ||= points.some(([, v]) => v <= top);
      plots.cost.line(points, i);
    }
    if (models[state.model].thresholds.length <= 2) plots.cost.say("All scores are equal: there is no threshold to choose.");
    else if (!any) plots.cost.say("Every threshold costs more than twice what calling all or none costs.");
  }
  function decisions() {
    $("decision-figure").hidden = !models.every((m) => m.acted_on);
    if ($("decision-figure").hidden) return;
    const prior = state.prevalence ?? own(models[state.model]), least = -0.25 * prior, grid = models[state.model].acted_on.t;
    const benefit = (model) => grid.map((t, k) => {
      const c = cellsOf(model, model.acted_on.tp[k], model.acted_on.fp[k], state.prevalence), n = c.tp + c.fp + c.fn + c.tn;
      return [t, c.tp / n - (c.fp / n) * (t / (1 - t))];
    });
    plots.decision = new Plot($("decision"), { x: linear(0, 1), y: linear(least, 1.05 * prior), xTicks: [0, 0.25, 0.5, 0.75, 1].map((v) => [v, String(v)]), yTicks: roundTicks(0, prior), xTitle: "probability from which one would act", yTitle: "net benefit per row" });
    plots.decision.faint([[0, 0], [1, 0]], "2 3");
    plots.decision.faint(grid.map((t) => [t, prior - (1 - prior) * t / (1 - t)]), "");
    const drawn = seen().map((i) => [i, benefit(models[i])]);
    for (const [i, points] of drawn) plots.decision.line(points, i);
    plots.decision.ends = drawn.map(([i, points]) => [...(points.findLast(([, v]) => v > least / 2) ?? points[0]), i]);
    if (drawn.every(([, points]) => points.every(([, v]) => v < least))) plots.decision.say("Acting on these probabilities as they are is worth less than acting on no one: calibrate them first.");
  }

  /* ---- what follows a slider ---- */
  function marks() {
    for (const plot of Object.values(plots)) plot.marks.replaceChildren();
    const named = { roc: [], pr: [], cost: [] };
    const mark = (at, x, y, i, said) => { plots[at].mark(x, y, i, said); named[at].push([x, y, i]); };
    for (const i of [...seen()].reverse()) {
      const model = models[i], c = cellsAt(model, state.at[i], state.prevalence), q = parameters();
      const recall = c.tp / (c.tp + c.fn), precision = c.tp / (c.tp + c.fp), name = `${model.name} at ${thresholdText(model.thresholds[state.at[i]])}`;
      mark("roc", c.fp / (c.fp + c.tn), recall, i, `${name}: finds ${perCent(recall)} with ${perCent(c.fp / (c.fp + c.tn))} false alarms`);
      if (c.tp + c.fp > 0) mark("pr", recall, precision, i, `${name}: finds ${perCent(recall)}, ${perCent(precision)} of its alarms are right`);
      if (model.histogram.logit === models[state.model].histogram.logit && typeof model.thresholds[state.at[i]] === "number" && plots.cost.y(costAt(model, state.at[i], q)) <= 1) mark("cost", place(model, state.at[i]), costAt(model, state.at[i], q), i, `${name}: ${shownNumber(costAt(model, state.at[i], q))}`);
    }
    if (models.length > 1) for (const [at, marked] of Object.entries(named)) plots[at].names(marked);
    const model = models[state.model];
    plots.scores.rule(place(model, state.at[state.model]), thresholdText(model.thresholds[state.at[state.model]]));
    const q = parameters(model, state.at[state.model]);
    if (models.length > 1 && plots.decision?.ends && !$("decision-figure").hidden) plots.decision.names(plots.decision.ends);
    if (plots.decision && !$("decision-figure").hidden && Number.isFinite(q.odds_at)) plots.decision.rule(q.odds_at, "");
  }
  /* Ten thousand rows like these, in squares. */
  function tenThousand(c) {
    const svg = $("rows"), n = c.tp + c.fp + c.fn + c.tn, per = (v) => 1e4 * v / n;
    const groups = [["found", per(c.tp), "var(--positive)"], ["missed", per(c.fn), "var(--missed)"], ["false alarms", per(c.fp), "var(--negative)"]];
    const unit = 10 ** Math.max(0, Math.ceil(Math.log10(Math.max(...groups.map(([, v]) => v)) / 60)));
    svg.replaceChildren();
    svg.setAttribute("viewBox", "0 0 352 150");
    groups.forEach(([label, value, colour], g) => {
      const left = 4 + 118 * g;
      svgElement(svg, "text", { x: left, y: 14, "font-size": 12, fill: "var(--ink)" }, `${value < 100 ? shownTo1(value) : fixed(value, 0)} ${label}`);
      const squares = value / unit;
      for (let k = 0; k < Math.min(Math.ceil(squares), 70); k++) {
        const part = Math.min(1, squares - k);
        svgElement(svg, "rect", { x: left + 11 * (k % 10), y: 24 + 11 * Math.floor(k / 10), width: Math.max(9 * part, 0.8), height: 9, rx: 1.5, fill: colour });
      }
    });
    svgElement(svg, "text", { x: 4, y: 140, "font-size": 11, fill: "var(--faint)" }, `${unit === 1 ? "a square is a row" : `a square is ${fixed(unit, 0)} rows`}; ${fixed(per(c.tn), 0)} more are rightly left alone`);
    svg.setAttribute("aria-label", `Of 10 000 rows like these: ${groups.map(([label, v]) => `${shownTo1(v)} ${label}`).join(", ")}.`);
  }
  const shownTo1 = (v) => (v >= 100 || Number.isInteger(v) ? fixed(v, 0) : fixed(v, 1));

  /* A number, its limits small below it. */
  function fill(cell, value, low, high) {
    if (Number.isNaN(value)) { cell.textContent = "undefined"; return; }
    const [shown, limits] = withLimits(value, low, high).split(" (");
    cell.textContent = shown;
    if (limits) cell.append(Object.assign(document.createElement("small"), { textContent: ` (${limits}` }));
  }
  /* Rows where rows were counted; shares at another prevalence, and of weights. */
  function told(c) {
    const called = c.tp + c.fp, positives = c.tp + c.fn;
    if (state.prevalence === null && [c.tp, c.fp, positives].every(Number.isInteger)) {
      const right = `${amount(c.tp)} of ${counted(called, "alarm")} ${c.tp === 1 ? "is" : "are"} right`;
      return `${amount(c.tp)} of ${counted(positives, "positive")}; ${called > 0 ? right : "no alarm is raised"}`;
    }
    return `${perCent(c.tp / positives)} of the positives; ${called > 0 ? `${perCent(c.tp / called)} of its alarms are right` : "no alarm is raised"}`;
  }
  function numbers() {
    const model = models[state.model], index = state.at[state.model];
    const c = cellsAt(model, index, state.prevalence), q = parameters(model, index);
    const other = state.beside === null || state.beside === state.model ? null : models[state.beside];
    document.querySelectorAll(".beside").forEach((head) => { head.hidden = other === null; });
    document.querySelector("#live thead th:nth-child(2)").textContent = models.length > 1 ? model.name : "value";
    document.querySelector("#live thead th:nth-child(3)").textContent = other?.name ?? "";
    for (const [name, [cell, beside]] of Object.entries(rows)) {
      const value = FORMULAS[name](c, q), [low, high] = limitsOf(model, index, name);
      fill(cell, value, low, high);
      if (DATA.glossary[name].parameters.includes("odds_at")) cell.append(Object.assign(document.createElement("small"), { className: "odds", textContent: Number.isNaN(q.odds_at) ? " scores are no probabilities" : ` acting from ${shownNumber(q.odds_at)} (${q.odds_of})` }));
      cell.dataset.value = value;
      cell.dataset.low = low ?? "";
      cell.dataset.high = high ?? "";
      beside.hidden = other === null;
      if (other) {
        const k = state.at[state.beside], theirs = FORMULAS[name](cellsAt(other, k, state.prevalence), parameters(other, k));
        fill(beside, theirs, ...limitsOf(other, k, name));
        beside.dataset.value = theirs;
      }
    }
    for (const cell of document.querySelectorAll("#matrix td")) {
      cell.textContent = amount(Math.round(c[cell.dataset.cell] * 10) / 10);
      cell.dataset.value = c[cell.dataset.cell];
    }
    tenThousand(c);
    $("said").textContent = `${models.length > 1 ? `${model.name} finds` : "Finds"} ${told(c)}.`;
  }
  function sliders() {
    for (const [id, i] of [["threshold", state.model], ["threshold-beside", state.beside]]) {
      const input = $(id), hidden = i === null || (id !== "threshold" && i === state.model);
      input.closest("label").hidden = hidden;
      if (hidden) continue;
      const model = models[i];
      input.max = model.thresholds.length - 1;
      input.value = state.at[i];
      input.style.accentColor = colourOf(i);
      const text = thresholdText(model.thresholds[state.at[i]]);
      input.setAttribute("aria-valuetext", `threshold ${text}`);
      $(`${id}-value`).textContent = text;
      $(`${id}-name`).textContent = models.length > 1 ? `threshold of ${model.name}` : "threshold";
    }
    const prevalence = state.prevalence ?? own(models[state.model]);
    $("prevalence-value").textContent = perCent(prevalence);
    $("prevalence").value = Math.log(prevalence / (1 - prevalence));
    $("prevalence").setAttribute("aria-valuetext", `prevalence ${perCent(prevalence)}`);
    $("model").value = state.model;
    $("beside").value = state.beside ?? "";
  }
  /* State in the address, so that a link shows what its sender saw. */
  function remember() {
    const q = new URLSearchParams({ model: models[state.model].name, t: models[state.model].thresholds[state.at[state.model]] });
    if (state.beside !== null) { q.set("beside", models[state.beside].name); q.set("u", models[state.beside].thresholds[state.at[state.beside]]); }
    if (moved()) q.set("prevalence", state.prevalence);
    for (const name of typedAnew()) q.set(name, $(name).value);
    history.replaceState(null, "", `#explore?${q}`);
  }
  function recall() {
    const [where, query] = location.hash.split("?");
    if (where !== "#explore" || !query) return;
    reset();
    const q = new URLSearchParams(query), named = (name) => models.findIndex((m) => m.name === name);
    const at = (i, t) => { const k = models[i].thresholds.findIndex((v) => threshold(v) >= (t === "inf" ? Infinity : Number(t))); if (k >= 0) state.at[i] = k; };
    if (named(q.get("model")) >= 0) { state.model = named(q.get("model")); at(state.model, q.get("t")); }
    if (named(q.get("beside")) >= 0) { state.beside = named(q.get("beside")); at(state.beside, q.get("u")); } else state.beside = null;
    const p = Number(q.get("prevalence"));
    if (q.has("prevalence") && p > 0 && p < 1) state.prevalence = p;
    for (const name of names) if (q.has(name) && Number(q.get(name)) >= 0) $(name).value = q.get(name);
  }
  function update({ redraw = true, keep = true } = {}) {
    if (redraw) curves();
    sliders();
    numbers();
    marks();
    if (keep) remember();
  }
  $("model").addEventListener("change", (e) => { state.model = Number(e.target.value); update(); });
  $("beside").addEventListener("change", (e) => { state.beside = e.target.value === "" ? null : Number(e.target.value); update(); });
  $("threshold").addEventListener("input", (e) => { state.at[state.model] = Number(e.target.value); update({ redraw: false }); });
  $("threshold-beside").addEventListener("input", (e) => { state.at[state.beside] = Number(e.target.value); update({ redraw: false }); });
  $("prevalence").addEventListener("input", (e) => { state.prevalence = 1 / (1 + Math.exp(-Number(e.target.value))); update(); });
  for (const name of names) $(name).addEventListener("input", () => update());
  function reset() {
    state.prevalence = found.prevalence;
    state.at = models.map((m) => m.start);
    for (const name of names) $(name).value = $(name).defaultValue;
  }
  $("reset").addEventListener("click", () => {
    reset();
    update({ keep: false });
    history.replaceState(null, "", "#explore");
  });
  recall();
  update({ keep: false });
  /* A link that is pasted into the open page. */
  addEventListener("hashchange", () => { recall(); update({ keep: false }); });
}
