/* Tables: sort by a column, search, copy; a click on a metric explains it. */
function metricButton(name) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "metric";
  button.dataset.metric = name;
  button.textContent = DATA.glossary[name]?.label ?? name;
  return button;
}

function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const lines = () => [...table.querySelectorAll("tbody tr")].filter((row) => !row.classList.contains("block"));
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    if (lines().some((row) => row.cells[i]?.classList.contains("number"))) head.classList.add("number");
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const numeric = head.classList.contains("number");
      const key = (row) => row.cells[i].dataset.value ?? row.cells[i].textContent;
      for (const body of table.tBodies) {
        const rows = [...body.rows].filter((row) => !row.classList.contains("block")).sort((a, b) => {
          const [x, y] = [key(a), key(b)], [p, q] = [Number(x), Number(y)];
          const missing = (text, value) => text === "" || text === "undefined" || text === "NaN" || (numeric && Number.isNaN(value));
          if (missing(x, p) || missing(y, q)) return missing(x, p) - missing(y, q);
          const order = numeric ? p - q || 0 : x.localeCompare(y);
          return down ? -order : order;
        });
        body.append(...rows);
      }
    });
  });
  const bar = document.createElement("div"), menu = document.createElement("details"), summary = document.createElement("summary");
  bar.className = "copy";
  menu.className = "save";
  summary.textContent = "copy";
  menu.append(summary);
  if (table.tBodies.length > 1) bar.append(search(table));
  bar.append(menu);
  for (const kind of ["CSV", "LaTeX", "Markdown"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `copy ${kind}`;
    button.addEventListener("click", () => copy(asText(table, kind), button));
    menu.append(button);
  }
  table.closest(".scroll").before(bar);
}

/* A table of many blocks can be searched by the names in its first column. */
function search(table) {
  const label = document.createElement("label"), input = document.createElement("input");
  input.type = "search";
  const nothing = Object.assign(document.createElement("span"), { hidden: true, role: "status" });
  label.append("search ", input, " ", nothing);
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    for (const body of table.tBodies) {
      let any = false;
      for (const row of body.rows) {
        if (row.classList.contains("block")) continue;
        const key = row.cells[0].dataset.value ?? "", facts = DATA.glossary[key];
        const known = [row.cells[0].textContent, key, facts?.title ?? "", ...(facts?.aliases ?? [])];
        row.hidden = !known.some((name) => name.toLowerCase().includes(wanted));
        any ||= !row.hidden;
      }
      body.hidden = !any;
    }
    nothing.hidden = [...table.tBodies].some((body) => !body.hidden);
    nothing.textContent = nothing.hidden ? "" : `No name holds “${input.value.trim()}”.`;
  });
  return label;
}

/* For a spreadsheet a number and its limits are three columns. */
function spread(table) {
  const body = dataRows(table);
  const wide = [...table.tHead.rows[0].cells].map((_, i) => body.some((row) => row.cells[i]?.dataset.low));
  return [table.tHead.rows[0], ...body].map((row) => [...row.cells].flatMap((cell, i) => {
    const text = cell.textContent.trim();
    const head = row === table.tHead.rows[0];
    if (!wide[i]) return [!head && cell.dataset.value && cell.classList.contains("number") ? Number(cell.dataset.value) : text];
    if (head) return [text, `${text} low`, `${text} high`];
    return [cell.dataset.value === undefined ? text : Number(cell.dataset.value), ...["low", "high"].map((end) => (cell.dataset[end] ? Number(cell.dataset[end]) : ""))];
  }));
}

const dataRows = (table) => [...table.querySelectorAll("tbody tr")].filter((row) => !row.classList.contains("block") && !row.hidden);

/* What a spreadsheet would run as a formula is quoted as text; numbers stay numbers. */
function csv(lines) {
  const cell = (v) => {
    if (typeof v === "number") return Number.isNaN(v) ? "" : String(v);
    const text = /^[=+\-@\t\r]/.test(v) ? `'${v}` : v;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return lines.map((line) => line.map(cell).join(",")).join("\n");
}

function asText(table, kind) {
  if (kind === "CSV") return csv(spread(table));
  const lines = [table.tHead.rows[0], ...dataRows(table)].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
  const right = [...table.tHead.rows[0].cells].map((cell) => cell.classList.contains("number"));
  if (kind === "Markdown") {
    const rows = lines.map((line) => `| ${line.map((v) => v.replaceAll("\\", "\\\\").replaceAll("|", "\\|")).join(" | ")} |`);
    return [rows[0], `|${right.map((r) => (r ? "---:" : "---")).join("|")}|`, ...rows.slice(1)].join("\n");
  }
  const escape = (v) => v.replace(/[\\&%$#_{}~^<>\u202f]/g, (c) => ({ "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}", "\u202f": "\\," })[c] ?? `\\${c}`);
  const rows = lines.map((line) => `${line.map(escape).join(" & ")} \\\\`);
  return [`\\begin{tabular}{${right.map((r) => (r ? "r" : "l")).join("")}}`, "\\toprule", rows[0], "\\midrule", ...rows.slice(1), "\\bottomrule", "\\end{tabular}"].join("\n");
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
  $("told").textContent = done ? "Copied." : "";
  setTimeout(() => { button.textContent = before; }, 1200);
}

document.addEventListener("click", (event) => {
  const name = event.target.closest?.("button.metric")?.dataset.metric;
  const facts = DATA.glossary[name];
  if (!facts) return;
  $("explained-title").textContent = facts.title;
  const lines = [facts.meaning, `From ${facts.low} to ${facts.high}; ${facts.better}. ${facts.moves ? "Moves with the prevalence." : "Does not move with the prevalence."}`, facts.reference, `In Python and on the command line: ${name}.`];
  const formula = document.createElement("p");
  // Made by this page's own maker from its own declarations: never a user's text.
  formula.innerHTML = facts.formula;
  const paragraphs = lines.map((line) => Object.assign(document.createElement("p"), { textContent: line }));
  paragraphs.splice(1, 0, formula);
  $("explained-text").replaceChildren(...paragraphs);
  $("explained").showModal();
});
