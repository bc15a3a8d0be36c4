"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

function shownNumber(value) {
  if (value === null || Number.isNaN(value)) return "undefined";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return size >= 1e4 ? value.toFixed(1) : size >= 1e-3 ? value.toFixed(4) : value.toPrecision(4);
}

/* The four cells at a prevalence, in the same order of operations as the library. */
function cellsAt(model, index, prevalence) {
  const n = model.P + model.N;
  const [down, up] = prevalence === null ? [1, 1] : [(1 - prevalence) * n / model.N, prevalence * n / model.P];
  const tp = model.tp[index] * up, fp = model.fp[index] * down;
  return { tp, fp, fn: model.P * up - tp, tn: model.N * down - fp };
}

/* ---- sliders ---- */
function explorer(found) {
  const state = { model: 0, index: found.models[0].start, prevalence: DATA.prevalence, shown: found.models.map(() => true) };
  const select = $("model");
  found.models.forEach((model, i) => {
    const option = document.createElement("option");
    option.value = i;
    option.textContent = model.name;
    select.append(option);
    const label = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox";
    box.checked = true;
    box.addEventListener("change", () => { state.shown[i] = box.checked; draw(); });
    label.append(box, ` ${model.name}`);
    label.style.color = `var(--m${i % 7})`;
    $("shown").append(label);
  });
  $("shown").hidden = found.models.length < 2;
  const body = document.querySelector("#live tbody");
  const values = {};
  for (const name of Object.keys(FORMULAS)) {
    const row = body.insertRow(), head = row.insertCell(), cell = row.insertCell();
    const button = document.createElement("button");
    button.type = "button";
    button.className = "metric";
    button.dataset.metric = name;
    button.textContent = name;
    head.dataset.value = name;
    head.append(button);
    cell.className = "number";
    cell.id = `live-${name}`;
    values[name] = cell;
  }
  /* Costs that differ say at which probability one would act; else it is the threshold, where that is a probability. */
  function parameters(threshold) {
    const q = {};
    for (const name of DATA.parameters) {
      const typed = parseFloat($(name).value);
      if (Number.isFinite(typed) && typed >= 0) q[name] = typed;
    }
    if (q.cost_fp !== q.cost_fn && q.cost_fp + q.cost_fn > 0) q.odds_at = q.cost_fp / (q.cost_fp + q.cost_fn);
    else q.odds_at = threshold >= 0 && threshold < 1 ? threshold : NaN;
    return q;
  }
  function update() {
    const model = found.models[state.model];
    const c = cellsAt(model, state.index, state.prevalence), q = parameters(model.thresholds[state.index]);
    $("threshold").max = model.thresholds.length - 1;
    $("threshold").value = state.index;
    $("threshold").setAttribute("aria-valuetext", `threshold ${model.thresholds[state.index]}`);
    const threshold = model.thresholds[state.index];
    $("threshold-value").textContent = typeof threshold === "number" ? shownNumber(threshold) : "above all";
    const prevalence = state.prevalence === null ? own(model) : state.prevalence;
    $("prevalence-value").textContent = shownNumber(prevalence);
    $("prevalence").value = Math.log(prevalence / (1 - prevalence));
    $("prevalence").setAttribute("aria-valuetext", `prevalence ${shownNumber(prevalence)}`);
    for (const cell of document.querySelectorAll("#matrix td")) {
      cell.textContent = shownNumber(Math.round(c[cell.dataset.cell] * 100) / 100);
      cell.dataset.value = c[cell.dataset.cell];
    }
    for (const [name, cell] of Object.entries(values)) {
      const value = FORMULAS[name](c, q);
      cell.textContent = shownNumber(value);
      cell.dataset.value = value;
    }
    draw();
  }
  const own = (model) => model.P / (model.P + model.N);
  const at = (x, y) => [40 + 270 * x, 280 - 270 * y];
  function element(parent, name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  }
  function frame(svg, xTitle, yTitle) {
    svg.replaceChildren();
    for (let i = 0; i <= 5; i++) {
      const [x, y] = at(i / 5, i / 5);
      element(svg, "path", { d: `M${x} 10V280M40 ${y}H310`, stroke: "var(--grid)", fill: "none" });
      element(svg, "text", { x, y: 294, "text-anchor": "middle", "font-size": 10, fill: "var(--ink)" }).textContent = (i / 5).toFixed(1);
      element(svg, "text", { x: 34, y: y + 3, "text-anchor": "end", "font-size": 10, fill: "var(--ink)" }).textContent = (i / 5).toFixed(1);
    }
    element(svg, "text", { x: 175, y: 312, "text-anchor": "middle", "font-size": 11, fill: "var(--ink)" }).textContent = xTitle;
    element(svg, "text", { x: 12, y: 145, "text-anchor": "middle", "font-size": 11, fill: "var(--ink)", transform: "rotate(-90 12 145)" }).textContent = yTitle;
  }
  const dashes = ["", "6 3", "2 2", "8 3 2 3", "4 4", "1 3", "10 4"];
  function line(svg, points, i, width) {
    const d = points.map(([x, y], k) => `${k ? "L" : "M"}${at(x, y).map((v) => v.toFixed(1)).join(" ")}`).join("");
    const dash = dashes[(i + Math.floor(i / 7)) % 7];
    element(svg, "path", { d, stroke: `var(--m${i % 7})`, "stroke-width": width, "stroke-dasharray": dash, fill: "none" });
  }
  function dot(svg, x, y, colour) {
    const [cx, cy] = at(x, y);
    element(svg, "circle", { cx, cy, r: 6, fill: colour, stroke: "var(--paper)", "stroke-width": 2, class: "point", "data-x": x, "data-y": y });
  }
  function draw() {
    const roc = $("roc"), pr = $("pr");
    frame(roc, "false positive rate", "true positive rate");
    frame(pr, "recall", "precision");
    // The chosen model last, so that its point lies on top.
    const order = found.models.map((_, i) => i).filter((i) => state.shown[i]).sort((a, b) => (a === state.model) - (b === state.model));
    for (const i of order) {
      const model = found.models[i], chosen = i === state.model;
      line(roc, model.tp.map((tp, k) => [model.fp[k] / model.N, tp / model.P]), i, chosen ? 2.5 : 1.5);
      const curve = [];
      model.tp.forEach((_, k) => {
        const c = cellsAt(model, k, state.prevalence);
        if (c.tp + c.fp === 0) return;
        const recall = c.tp / (c.tp + c.fn), precision = c.tp / (c.tp + c.fp);
        // Steps, as average precision adds them up.
        if (curve.length) curve.push([curve[curve.length - 1][0], precision]);
        curve.push([recall, precision]);
      });
      line(pr, curve, i, chosen ? 2.5 : 1.5);
      if (!chosen) continue;
      const c = cellsAt(model, state.index, state.prevalence);
      dot(roc, c.fp / (c.fp + c.tn), c.tp / (c.tp + c.fn), `var(--m${i % 7})`);
      if (c.tp + c.fp > 0) dot(pr, c.tp / (c.tp + c.fn), c.tp / (c.tp + c.fp), `var(--m${i % 7})`);
    }
  }
  select.addEventListener("change", () => {
    state.model = Number(select.value);
    state.index = found.models[state.model].start;
    update();
  });
  $("threshold").addEventListener("input", (event) => { state.index = Number(event.target.value); update(); });
  $("prevalence").addEventListener("input", (event) => { state.prevalence = 1 / (1 + Math.exp(-Number(event.target.value))); update(); });
  for (const name of DATA.parameters) $(name).addEventListener("input", update);
  $("reset").addEventListener("click", () => {
    state.prevalence = DATA.prevalence;
    state.index = found.models[state.model].start;
    for (const name of DATA.parameters) $(name).value = $(name).defaultValue;
    update();
  });
  update();
}

/* ---- tables: sort by a column, copy ---- */
function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    head.scope = "col";
    if ([...table.tBodies[0].rows].some((row) => row.cells[i]?.classList.contains("number"))) head.classList.add("number");
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const numeric = head.classList.contains("number");
      const key = (row) => row.cells[i].dataset.value ?? row.cells[i].textContent;
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [key(a), key(b)], [p, q] = [Number(x), Number(y)];
        const missing = (text, value) => text === "" || text === "undefined" || text === "NaN" || (numeric && Number.isNaN(value));
        if (missing(x, p) || missing(y, q)) return missing(x, p) - missing(y, q);
        const order = numeric ? p - q || 0 : x.localeCompare(y);
        return down ? -order : order;
      });
      table.tBodies[0].append(...rows);
    });
  });
  const bar = document.createElement("div");
  bar.className = "copy";
  for (const kind of ["CSV", "LaTeX", "Markdown"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `copy ${kind}`;
    button.addEventListener("click", () => copy(asText(table, kind), button));
    button.setAttribute("aria-live", "polite");
    bar.append(button);
  }
  table.closest(".scroll").before(bar);
}

/* For a spreadsheet a number and its limits are three columns. */
function spread(table) {
  const wide = [...table.tHead.rows[0].cells].map((_, i) => [...table.tBodies[0].rows].some((row) => row.cells[i]?.dataset.low));
  return [...table.rows].map((row) => [...row.cells].flatMap((cell, i) => {
    const text = cell.textContent.trim();
    if (!wide[i]) return [cell.dataset.value && cell.classList.contains("number") ? cell.dataset.value : text];
    if (cell.tagName === "TH") return [text, `${text} low`, `${text} high`];
    return [cell.dataset.value ?? text, cell.dataset.low ?? "", cell.dataset.high ?? ""];
  }));
}

function asText(table, kind) {
  const lines = kind === "CSV" ? spread(table) : [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
  if (kind === "CSV") return lines.map((line) => line.map((v) => (/[",\n]/.test(v) ? `"${v.replaceAll('"', '""')}"` : v)).join(",")).join("\n");
  if (kind === "Markdown") {
    const rows = lines.map((line) => `| ${line.map((v) => v.replaceAll("|", "\\|")).join(" | ")} |`);
    return [rows[0], `|${" --- |".repeat(lines[0].length)}`, ...rows.slice(1)].join("\n");
  }
  const escape = (v) => v.replace(/\\/g, "\\textbackslash ").replace(/([&%$#_{}])/g, "\\$1").replace(/\^/g, "\\^{}").replace(/~/g, "\\~{}");
  const rows = lines.map((line) => `${line.map(escape).join(" & ")} \\\\`);
  return [`\\begin{tabular}{${"l".repeat(lines[0].length)}}`, "\\hline", rows[0], "\\hline", ...rows.slice(1), "\\hline", "\\end{tabular}"].join("\n");
}

function copy(text, button) {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  button.focus();
  button.dataset.copied = text;
  const before = button.textContent;
  button.textContent = done ? "copied" : "press Ctrl+C";
  setTimeout(() => { button.textContent = before; }, 1200);
}

/* ---- a click explains a metric ---- */
document.addEventListener("click", (event) => {
  const name = event.target.closest?.("button.metric")?.dataset.metric;
  const facts = DATA.glossary[name];
  if (!facts) return;
  $("explained-title").textContent = `${name}: ${facts.title}`;
  const lines = [
    facts.meaning, `Formula: ${facts.formula}`, `From ${facts.low} to ${facts.high}; better: ${facts.better}.`,
    facts.moves ? "Moves with the prevalence." : "Does not move with the prevalence.", facts.reference,
  ];
  $("explained-text").replaceChildren(...lines.map((line) => Object.assign(document.createElement("p"), { textContent: line })));
  $("explained").showModal();
});

if (DATA.explorer) explorer(DATA.explorer);
document.querySelectorAll("table.sortable").forEach(sortable);
