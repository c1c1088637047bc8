// The editor, which comes with the first wish to edit or run: CodeMirror, with lines that can be lit.
const address = new URL("../vendor/codemirror/codemirror.js", import.meta.url)
let library

// Opens an editor in `host`. Returns { text(), replace(text), light(lines, faulty), focus() }; lines count from 1.
export async function open_editor(host, text, { label, on_change }) {
  library ??= import(address)
  const cm = await library
  const set_lights = cm.StateEffect.define()
  const lights = cm.StateField.define({
    create: () => cm.Decoration.none,
    update(marks, transaction) {
      if (transaction.docChanged) return cm.Decoration.none // lines have moved
      for (const effect of transaction.effects) if (effect.is(set_lights)) return effect.value
      return marks
    },
    provide: field => cm.EditorView.decorations.from(field),
  })
  const view = new cm.EditorView({
    parent: host,
    state: cm.EditorState.create({
      doc: text,
      extensions: [
        cm.lineNumbers(),
        cm.history(),
        cm.drawSelection(),
        cm.indentUnit.of("    "),
        cm.bracketMatching(),
        cm.pythonLanguage,
        cm.syntaxHighlighting(cm.classHighlighter),
        cm.keymap.of([...cm.defaultKeymap, ...cm.historyKeymap, cm.indentWithTab]),
        cm.EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", autocapitalize: "off", autocorrect: "off", spellcheck: "false" }),
        cm.EditorView.updateListener.of(update => update.docChanged && on_change(view.state.doc.toString())),
        lights,
      ],
    }),
  })
  const decorate = (lines, css) =>
    [...lines].filter(line => line >= 1 && line <= view.state.doc.lines)
      .map(line => cm.Decoration.line({ class: css }).range(view.state.doc.line(line).from))
  return {
    text: () => view.state.doc.toString(),
    replace: whole => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: whole } }),
    light: (lines, faulty) =>
      view.dispatch({ effects: set_lights.of(cm.Decoration.set([...decorate(lines, "lit"), ...decorate(faulty, "faulty")], true)) }),
    focus: () => view.focus(),
  }
}
