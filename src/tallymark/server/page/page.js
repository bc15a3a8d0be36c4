// The page: files, what is in them, a question, its answer. Every text from outside is set as text, never as HTML.

const $ = (id) => document.getElementById(id);
const state = { file: null, files: [], look: null, upload: 0, run: null, token: 0 };

// Marks that turn the direction of the text around them, as in a file's name, are shown as what they are.
const plain = (text) => String(text).replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

const make = (tag, text, attributes = {}) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = plain(text);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

const call = async (path, body) => {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  let response;
  try { response = await fetch(path, options); } catch { throw new Error("The program behind this page has ended; start it again."); }
  const answer = await response.json().catch(() => ({ error: `The answer could not be read (${response.status}).` }));
  if (!response.ok) throw new Error(answer.error ?? `Refused (${response.status}).`);
  return answer;
};

// A question to the person: resolves to the value of the button that was pressed, null for Escape.
const ask = (title, lines, buttons, extra = []) => new Promise((resolve) => {
  const dialog = $("dialog"), form = $("dialog-form");
  $("dialog-title").textContent = title;
  form.replaceChildren(...lines.map((line) => make("p", line)), ...extra);
  const row = make("p", undefined, { class: "row" });
  for (const [value, text] of buttons) row.append(make("button", text, { value }));
  form.append(row);
  dialog.onclose = () => resolve(dialog.returnValue || null);
  dialog.returnValue = "";
  dialog.showModal();
});

const tell = (error) => ask("That did not work", [error.message], [["", "Close"]]);

const size = (bytes) => bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.ceil(bytes / 1e3)} kB`;

const listFiles = async () => {
  const answer = await call("files");
  state.files = answer.files;
  state.upload = answer.upload;
  $("folder-text").hidden = !answer.files.length;
  $("folder-text").textContent = `Or take one from the folder ${answer.folder} (files of any size are read where they are):`;
  $("files").replaceChildren(...answer.files.map((file) => {
    const item = make("li");
    const button = make("button", file.place, { "aria-pressed": String(file.id === state.file) });
    button.onclick = () => choose(file.id);
    item.append(button, ` ${size(file.bytes)}`);
    return item;
  }));
};

const upload = async (list) => {
  let last = null;
  for (const file of list) {
    if (file.size > state.upload) {
      await tell(new Error(`${file.name} is larger than ${size(state.upload)}. Put it into the folder that this page was started in, and choose it there.`));
      continue;
    }
    const response = await fetch(`upload?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
    const answer = await response.json().catch(() => ({ error: `The file could not be kept (${response.status}).` }));
    if (!response.ok) { await tell(new Error(answer.error)); continue; }
    last = answer.id;
  }
  await listFiles();
  if (last) await choose(last);
};

// How the file is to be read, where that was stated; another file is read anew.
const READ = ["encoding", "decimal", "separator", "sheet"];
const stated = () => Object.fromEntries(READ.map((name) => [name, $(name).value]).filter(([, value]) => value));

const choose = async (id) => {
  if (id !== state.file) for (const name of READ) $(name).value = "";
  state.file = id;
  $("heading").textContent = "Looking at the file …";
  $("parts").hidden = false;
  $("questions").hidden = true;
  const token = ++state.token;
  try {
    const answer = await call("look", { file: id, ...stated() });
    if (token !== state.token) return;
    state.look = answer.look;
    showLook(answer);
    await listFiles();
  } catch (error) {
    if (token !== state.token) return;
    $("heading").textContent = error.message;
    await tell(error);
  }
};

const options = (select, names, chosen, none) => {
  select.replaceChildren(...(none === undefined ? [] : [make("option", none, { value: "" })]), ...names.map((name) => make("option", name, { value: name })));
  select.value = chosen ?? "";
};

const column = (name) => state.look.columns.find((one) => one.name === name);

const showPositives = () => {
  const truth = column($("label").value);
  const values = (truth?.counted ?? []).map(([value]) => String(value));
  const known = state.look.parts?.truth === truth?.name ? state.look.parts?.positive : undefined;
  options($("pos_label"), values, known === undefined || known === null ? (values.includes("1") ? "1" : values.at(-1)) : String(known), values.length ? undefined : "(no column chosen)");
};

const showLook = ({ look, first }) => {
  const names = look.columns.map((one) => one.name), parts = look.parts ?? {};
  $("heading").textContent = `${look.file.split(/[\\/]/).at(-1)}: ${look.n.toLocaleString("en")} rows, ${names.length} columns.`;
  $("cautions").replaceChildren(...[...(look.cautions ?? []).map((one) => one.message), ...look.warnings.map((one) => one.message)].map((text) => make("li", text)));
  options($("label"), names, parts.truth, "(none)");
  showPositives();
  options($("predicted"), names, parts.scores?.length ? "" : parts.predicted?.[0], "(none)");
  options($("period"), names, parts.period, "(none)");
  options($("by"), names, "", "(none)");
  options($("weight"), names, parts.weight, "(none)");
  $("scores").replaceChildren(...look.columns.filter((one) => one.type.includes("number")).map((one) => {
    const label = make("label"), box = make("input", undefined, { type: "checkbox", value: one.name });
    box.checked = (parts.scores ?? []).includes(one.name);
    label.append(box, ` ${one.name}`);
    return label;
  }));
  const head = make("tr"), body = first.rows.map((row) => { const line = make("tr"); line.append(...row.map((cell) => make("td", cell))); return line; });
  head.append(...first.columns.map((name) => make("th", name, { scope: "col" })));
  $("first").replaceChildren(head, ...body);
  $("questions").hidden = false;
};

const chosenColumns = () => {
  const picked = { scores: [...$("scores").querySelectorAll("input:checked")].map((box) => box.value) };
  for (const name of ["label", "pos_label", "called", "predicted", "period", "by", "weight"]) if ($(name).value) picked[name] = $(name).value;
  return picked;
};

// Two or three further questions for each; what is left as it is changes nothing.
const field = (text, control) => { const label = make("label", `${text} `); label.append(control); const line = make("p"); line.append(label); return line; };
const select = (pairs) => { const control = make("select"); control.append(...pairs.map(([value, text]) => make("option", text, { value }))); return control; };

const followUps = (question, choices) => {
  const names = state.look.columns.map((one) => one.name);
  const columnsOf = (none) => select([["", none], ...names.map((name) => [name, name])]);
  const other = select([["", "(rows of this file without a label)"], ...state.files.filter((file) => file.id !== state.file).map((file) => [file.id, file.place])]);
  const controls = {
    good: [
      ["stratified", "Were the rows drawn at random from all?", select([["", "yes, or I do not know"], ["1", "no: so many of each class by design"]])],
      ["costs", "Which error costs more?", select([["", "I do not know (threshold one half)"], ["1,10", "a miss costs ten false alarms"], ["1,3", "a miss costs three"], ["1,1", "both cost the same"], ["3,1", "a false alarm costs three misses"]])],
      ["cluster", "Do several rows belong to one item or person?", columnsOf("no")],
    ],
    better: [
      ["top", "What will the scores be used for?", select([["", "telling the classes apart"], ["1", "finding positives at the top of the list"]])],
      ["cluster", "Do several rows belong to one item or person?", columnsOf("no")],
    ],
    many: [["other", "Where are the rows to count?", other]],
    check: [
      ["width", "How wide may the interval of the share be?", select([["0.05", "5 points"], ["0.02", "2 points"], ["0.1", "10 points"], ["0.01", "1 point"]])],
      ["checked", "Were some rows checked before? Their verdicts are in", columnsOf("no column")],
    ],
    changed: [],
  }[question];
  return controls.map(([name, text, control]) => [name, control, field(text, control)]);
};

const start = async (question) => {
  const choices = chosenColumns();
  const extra = followUps(question, choices);
  if (extra.length) {
    const pressed = await ask("Before the answer", [], [["go", "Answer"], ["", "Back"]], extra.map(([, , line]) => line));
    if (pressed !== "go") return;
    for (const [name, control] of extra) if (control.value) choices[name] = control.value;
  }
  const files = [state.file, ...(choices.other ? [choices.other] : [])];
  delete choices.other;
  for (const name of ["stratified", "top"]) if (choices[name]) choices[name] = true;
  const truth = column(choices.label ?? "");
  if (["good", "better"].includes(question) && truth?.missing) {
    const missing = truth.missing.toLocaleString("en");
    const pressed = await ask(`${missing} rows have no label`, [`${missing} of ${state.look.n.toLocaleString("en")} rows have nothing in ${truth.name}. Leave them out here, or count how many of them are positive?`], [["leave", "Leave them out"], ["count", "Count them"], ["", "Back"]]);
    if (!pressed) return;
    if (pressed === "leave") choices.drop_missing = true; else question = "many";
  }
  try {
    const { run } = await call("run", { question, files, choices, ...stated() });
    await follow(run);
  } catch (error) { await tell(error); }
};

const follow = async (run) => {
  state.run = run;
  $("answer").hidden = false;
  $("result").hidden = true;
  $("cancel").hidden = false;
  $("progress").hidden = false;
  $("progress").removeAttribute("value");
  $("answer").scrollIntoView({ block: "start" });
  for (;;) {
    const now = await call(`run/${run}`);
    if (state.run !== run) return;
    const percent = /(\d+) %$/.exec(now.progress);
    if (percent) $("progress").value = Number(percent[1]);
    $("status").textContent = { waiting: "Waiting for an earlier question …", running: `${now.progress || "Starting"} … ${Math.round(now.seconds)} s`, done: `Answered in ${now.seconds} s.`, failed: "No answer.", cancelled: "Cancelled." }[now.state];
    if (!["waiting", "running"].includes(now.state)) return finished(run, now);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
};

const finished = async (run, now) => {
  $("cancel").hidden = true;
  $("progress").hidden = true;
  if (now.state === "failed") return tell(new Error(now.said || "The command ended without a word."));
  if (now.state !== "done") return;
  const texts = { "report.html": "Save the report", "tables.xlsx": "Save the tables (Excel)", "to_check.csv": "Save the rows to check" };
  $("downloads").replaceChildren(...now.files.map((name) => make("a", texts[name] ?? name, { href: `run/${run}/${name}?save=1`, download: name })));
  $("command").textContent = now.command;
  $("python").textContent = now.python;
  $("notes").textContent = now.said.split("\n").filter((line) => line && !line.startsWith("Wrote")).join("\n");
  $("report").src = `run/${run}/report.html`;
  $("result").hidden = false;
};

$("upload").onchange = (event) => upload(event.target.files).catch(tell);
for (const kind of ["dragover", "dragleave", "drop"]) $("drop").addEventListener(kind, (event) => {
  event.preventDefault();
  $("drop").classList.toggle("over", kind === "dragover");
  if (kind === "drop") upload(event.dataTransfer.files).catch(tell);
});
$("label").onchange = showPositives;
$("again").onclick = () => choose(state.file);
$("columns").onsubmit = (event) => event.preventDefault();
$("cancel").onclick = () => call(`run/${state.run}/cancel`, {}).catch(tell);
for (const button of $("buttons").children) button.onclick = () => start(button.dataset.question);
listFiles().catch(tell);
