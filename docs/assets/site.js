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

document$.subscribe(() => {
  typeset()
  pair()
  // A name that a screen reader needs and the theme leaves out.
  const search = document.querySelector(".md-search")
  search?.setAttribute("aria-label", search.querySelector("input").placeholder)
})

// A copy button is no landmark to jump to.
component$.subscribe(({ ref }) => ref.closest?.("pre")?.querySelector(".md-code__nav")?.setAttribute("role", "none"))
