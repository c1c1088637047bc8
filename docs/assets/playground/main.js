// Makes the blocks of code that a page marks as a playground editable and runnable. Without this script they are blocks of code.
//
//     <div class="playground" data-exercise="06_relu_bias">   an exercise: Run, Check, Reset
//     <div class="playground" data-snippet>                   a program: Run, Reset
//     <… data-progress="06_relu_bias">                        gets "solved" or "started"
//     <div class="playground-progress">                       gets how many are solved, and the answers as a file
import { draw, element } from "./drawing.js"
import { open_editor } from "./editor.js"
import { entry, everything, forget_text, keep, take_in } from "./progress.js"
import { Canceled, ask, cancel, exercise_text } from "./python.js"
import { lang, words } from "./texts.js"

const style = element("link", { rel: "stylesheet", href: new URL("playground.css", import.meta.url) })
document.head.append(style)

// A sentence with what stands between backticks as code.
function with_code(text) {
  return text.split("`").map((part, at) => (at % 2 ? element("code", {}, part) : part))
}

class Playground {
  constructor(box) {
    this.box = box
    this.name = box.dataset.exercise ?? null
    this.block = box.querySelector(".highlight, pre")
    this.starter = (box.querySelector("pre code")?.textContent ?? "").replace(/\n$/, "")
    this.written = (this.name && entry(this.name).text) ?? this.starter
    this.choice = 0
    this.busy = false
    this.build()
    if (this.written !== this.starter) this.box.querySelector("pre code").textContent = this.written
  }

  build() {
    const button = (name, action, primary) => element("button", { type: "button", class: primary ? "md-button md-button--primary" : "md-button", onclick: action }, words[name])
    this.host = element("div", { class: "editor" })
    this.buttons = {
      run: button("run", () => this.run(), true),
      check: button("check", () => this.check()),
      edit: button("edit", () => this.edit(true)),
      reset: button("reset", () => this.reset()),
    }
    if (!this.name) this.buttons.check.hidden = true
    this.cancel = button("cancel", () => cancel())
    this.cancel.hidden = true
    this.cases = element("select", { onchange: () => { this.choice = this.cases.selectedIndex; this.run() } })
    this.case_label = element("label", { class: "case", hidden: true }, `${words.case} `, this.cases)
    this.bar = element("progress", { max: "1", "aria-label": words.loading(0), hidden: true })
    this.status = element("p", { class: "said", role: "status" })
    this.output = element("div", { class: "result" })
    this.block?.addEventListener("pointerup", event => {
      const selects = !getSelection().isCollapsed
      if (event.target.closest("code") && !selects) this.edit(true)
    })
    const tools = element("div", { class: "tools" }, ...Object.values(this.buttons), this.cancel, this.case_label)
    this.box.append(this.host, tools, this.bar, this.status, this.output)
  }

  text() {
    return this.editor ? this.editor.text() : this.written
  }

  // Open the editor in place of the block of code. Without it the text as it stands can still be run.
  async edit(focus) {
    try {
      this.opening ??= open_editor(this.host, this.written, { label: words.editor, on_change: text => this.keep(text) })
      this.editor = await this.opening
    } catch {
      this.opening = undefined
      this.say(words.no_editor)
      return
    }
    if (this.block) this.block.hidden = true
    this.buttons.edit.hidden = true
    if (focus) this.editor.focus()
  }

  keep(text) {
    this.written = text
    if (this.name) keep(this.name, { text })
    show_progress()
  }

  say(text) {
    this.status.replaceChildren(text)
  }

  async run() {
    const source = this.text()
    if (!this.name) return this.task("run_snippet", { source })
    return this.task("run_exercise", { source, choice: this.choice })
  }

  async check() {
    const answer = await this.task("check_exercise", { source: this.text() })
    if (!answer?.passed) return
    keep(this.name, { solved: true })
    show_progress()
  }

  // Have Python do a task, and show what it answers. Undefined where it could not.
  async task(name, values) {
    if (this.busy) return undefined
    this.set_busy(true)
    this.output.replaceChildren()
    this.say(words.starting)
    try {
      if (this.name) values.exercise = await (this.exercise ??= exercise_text(this.name))
      const [answer] = await Promise.all([ask(name, values, part => this.show_part(part), () => this.say(words.running)), this.edit(false)])
      this.show(answer)
      return answer
    } catch (error) {
      this.exercise = undefined
      this.say(error instanceof Canceled ? words.canceled : words.broken(error.message))
      return undefined
    } finally {
      this.set_busy(false)
    }
  }

  show_part(part) {
    this.bar.hidden = part >= 1
    this.bar.value = part
    this.say(part < 1 ? words.loading(part) : words.starting)
  }

  set_busy(busy) {
    this.busy = busy
    this.bar.hidden = true
    this.cancel.hidden = !busy
    for (const name of ["run", "check", "reset"]) this.buttons[name].disabled = busy
    this.cases.disabled = busy
    this.box.setAttribute("aria-busy", String(busy))
  }

  show({ passed, texts, line, trace, cases, case: choice }) {
    this.choice = choice
    this.case_label.hidden = cases.length < 2
    this.cases.replaceChildren(...cases.map((text, at) => element("option", { selected: at === choice }, text)))
    const judged = passed !== null
    const said = texts ? [texts[lang]] : []
    if (trace && !judged) {
      const messages = trace.messages.length ? trace.messages : trace.unwritten
      said.push(...messages.map(message => message.texts[lang]))
    }
    if (!said.length) said.push(words.done)
    const verdict = passed ? "correct" : "incorrect"
    const head = judged ? [element("strong", { class: verdict }, words[verdict])] : []
    this.status.replaceChildren(...head, ...said.map(text => element("span", {}, ...with_code(text))))
    if (trace?.printed) {
      this.output.append(element("p", { class: "printed" }, words.printed), element("pre", { tabindex: "0" }, trace.printed + (trace.cut ? `\n${words.printed_more}` : "")))
    }
    if (trace && (trace.tensors.length || trace.steps.length)) {
      const light = (lines, faulty) => this.editor?.light(lines, faulty)
      this.output.append(draw(trace, light))
    }
    const stopped = line ?? trace?.messages[0]?.line
    if (stopped && !trace?.steps.length) this.editor?.light([], [stopped])
  }

  async reset() {
    const before = this.text()
    this.put(this.starter)
    if (this.name) forget_text(this.name)
    this.output.replaceChildren()
    show_progress()
    const undo = element("button", { type: "button", class: "undo", onclick: () => { this.put(before); this.keep(before); this.say("") } }, words.undo)
    this.status.replaceChildren(`${words.changed} `, ...(before === this.starter ? [] : [undo]))
  }

  put(text) {
    this.written = text
    if (this.editor) this.editor.replace(text)
    else this.box.querySelector("pre code").textContent = text
  }
}

function state_of(name) {
  const { solved, text } = entry(name)
  if (solved) return "solved"
  return text === undefined ? "" : "started"
}

// What is solved and started, wherever the page names an exercise.
function show_progress() {
  const places = [...document.querySelectorAll("[data-progress]")]
  for (const place of places) {
    const state = state_of(place.dataset.progress)
    place.textContent = words[state] ?? ""
    place.dataset.state = state
  }
  for (const box of document.querySelectorAll(".playground-progress")) {
    const solved = places.filter(place => place.dataset.state === "solved").length
    box.querySelector(".summary")?.replaceChildren(words.summary(solved, places.length))
  }
}

function build_progress(box) {
  const status = element("p", { role: "status" })
  const file = element("input", { type: "file", accept: "application/json,.json", hidden: true })
  file.addEventListener("change", async () => {
    try {
      status.textContent = words.taken_in(take_in(await file.files[0].text()))
      show_progress()
    } catch {
      status.textContent = words.not_taken_in
    }
    file.value = ""
  })
  const download = () => {
    const address = URL.createObjectURL(new Blob([everything()], { type: "application/json" }))
    element("a", { href: address, download: "triton-by-proof.json" }).click()
    URL.revokeObjectURL(address)
  }
  const button = (text, action) => element("button", { type: "button", class: "md-button", onclick: action }, text)
  box.append(element("p", { class: "summary" }), button(words.download, download), " ", button(words.take_in, () => file.click()), file, status)
}

// Called for each page, also after a change of page in place.
export function start() {
  const able = typeof WebAssembly === "object" && typeof Worker === "function"
  for (const box of document.querySelectorAll(".playground:not([data-ready])")) {
    box.dataset.ready = ""
    if (able) new Playground(box)
    else box.append(element("p", { class: "said" }, words.no_python))
  }
  for (const box of document.querySelectorAll(".playground-progress:not([data-ready])")) {
    box.dataset.ready = ""
    build_progress(box)
  }
  show_progress()
}
