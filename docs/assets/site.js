// Our own script. Everything runs through document$, which fires on the first load and after each instant navigation;
// nothing here is needed to read a page.
const root = new URL(`${__md_scope}`.replace(/\/?$/, "/")) // of this language
const vendor = new URL("assets/vendor/", root)

// KaTeX is loaded by the first page that has a formula.
let katex_js
function typeset() {
  const formulas = document.querySelectorAll(".arithmatex:not([data-typeset])")
  if (!formulas.length) return
  katex_js ??= new Promise((resolve, reject) => {
    const script = document.createElement("script")
    Object.assign(script, { src: new URL("katex/katex.min.js", vendor), onload: resolve, onerror: reject })
    document.head.append(script)
  })
  katex_js.then(() => formulas.forEach(formula => {
    const displayMode = formula.textContent.startsWith("\\[")
    katex.render(formula.textContent.slice(2, -2), formula, { displayMode, throwOnError: false })
    formula.dataset.typeset = ""
  }))
}

// The link to the other language leads to the section in view. The header stays through instant navigation, so the link is
// set for each page, and once more on the way to it.
function pair() {
  const link = document.querySelector("a.language")
  if (!document.querySelector("link[rel~=translation]")) return // the page was not found: the link leads home
  const read = [...document.querySelectorAll("article :is(h2, h3)[id]")].filter(h => h.getBoundingClientRect().top < 100)
  const page = location.pathname.slice(root.pathname.length)
  link.href = new URL(link.dataset.way + page + (read.length ? `#${read.pop().id}` : ""), root)
}
for (const event of ["pointerover", "focusin", "click"])
  document.addEventListener(event, ({ target }) => target.closest?.("a.language") && pair(), true)

// The tip of a term near the right edge moves into view.
for (const event of ["pointerover", "focusin"])
  document.addEventListener(event, ({ target }) => {
    const tip = target.closest?.(".term-wrap")?.lastElementChild
    if (!tip) return
    tip.style.translate = ""
    const over = tip.getBoundingClientRect().right - document.documentElement.clientWidth + 8
    if (over > 0) tip.style.translate = `${-over}px`
  })

// The playground is loaded by the first page that has one. Its files lie below the root, once for both languages.
const from_disk = {
  zh: "从磁盘打开的页面不能运行代码，因为浏览器不让它们启动 worker。请在线打开这一页，或者用 make serve 在自己的机器上提供本站。",
  en: "A page opened from disk cannot run code, since browsers let it start no worker. Open this page online, or serve the site yourself with make serve.",
}
let playground_js
function playgrounds() {
  const boxes = document.querySelectorAll(":is(.playground, .playground-progress):not([data-ready])")
  if (!boxes.length) return
  const lang = document.documentElement.lang === "en" ? "en" : "zh"
  if (location.protocol === "file:")
    return boxes.forEach(box => {
      box.dataset.ready = ""
      box.append(Object.assign(document.createElement("p"), { className: "said", textContent: from_disk[lang] }))
    })
  playground_js ??= import(new URL(`${lang === "en" ? "../" : ""}assets/playground/main.js`, root))
  playground_js.then(playground => playground.start())
}

function on_page() {
  typeset()
  pair()
  playgrounds()
  // A name that a screen reader needs and the theme leaves out.
  const search = document.querySelector(".md-search")
  search?.setAttribute("aria-label", search.querySelector("input").placeholder)
}
document$.subscribe(on_page)
if (location.protocol === "file:") on_page() // from disk the theme waits for a script of another host, which never comes

// A copy button is no landmark to jump to.
component$.subscribe(({ ref }) => ref.closest?.("pre")?.querySelector(".md-code__nav")?.setAttribute("role", "none"))
