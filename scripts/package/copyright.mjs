// Debian's copyright file: ours, and every module of others that is inside, with its holders and the text of its licence.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { licenceOf, modulesBeside, modulesOfPages, modulesOfProgram } from './modules.mjs'

/** Debian's names for what npm calls it. A module under a licence that is not here stops the build: a person must read it. */
const debianNames = {
  MIT: 'Expat',
  'MIT-0': 'MIT-0',
  ISC: 'ISC',
  'BSD-3-Clause': 'BSD-3-clause',
  'BSD-2-Clause': 'BSD-2-clause',
  'Apache-2.0': 'Apache-2.0',
  'BlueOak-1.0.0': 'BlueOak-1.0.0',
}
/** Of modules that name an MIT licence and carry no text of it. */
const plainMit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

/** Licences of what was copied into the sources of the pages. */
const icons = ['src/web/parts/lucide.LICENSE.txt']

/** Machine-readable (DEP 5). Throws for a module whose licence is not known here. */
export function copyrightText(project) {
  const texts = new Texts()
  const stanzas = modulesBeside(project).map((path) => {
    const module = termsOf(project, path, texts)
    return stanza(`usr/lib/lifeboat/${path}/*`, module.holders, module.label, module.title)
  })
  const whole = [
    { folder: 'bundle', what: 'The program', modules: modulesOfProgram(project) },
    { folder: 'web', what: 'The pages', modules: modulesOfPages(project), drawn: icons },
  ]
  for (const { folder, what, modules, drawn = [] } of whole) {
    const inside = [
      ...modules.map((path) => termsOf(project, path, texts)),
      ...drawn.map((file) => ({
        ...termsOfText(readFileSync(join(project, file), 'utf8'), texts),
        title: 'icons of Lucide',
      })),
    ]
    if (inside.length === 0) continue
    stanzas.push(
      stanza(
        `usr/lib/lifeboat/dist/${folder}/*`,
        [...new Set(['the Lifeboat authors', ...inside.flatMap((module) => module.holders)])],
        [...new Set(['Apache-2.0', ...inside.map(({ label }) => label)])].join(' and '),
        `${what}, with ${inside.map(({ title }) => title).join(', ')} compiled in.`,
      ),
    )
  }
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: lifeboat
Comment: The modules below are copied unchanged, or compiled into the program or the pages, as package-lock.json names them.
 better-sqlite3 contains SQLite, which its authors gave to the public domain.

Files: *
Copyright: the Lifeboat authors
License: Apache-2.0

${stanzas.join('\n')}
${texts.paragraphs()}`
}

/** Who holds a module, under which label its licence is below, and its name and version. Throws for an unknown licence. */
function termsOf(project, path, texts) {
  const { name, version, licence, text } = licenceOf(project, path)
  const debian = debianNames[licence]
  if (debian === undefined) throw new Error(`${path}: licence ${licence} is not in ${import.meta.url}`)
  const named = holders(text)
  return {
    holders: named.length > 0 ? named : [`the authors of ${name}`],
    label: texts.label(debian, text ?? plainMit),
    title: `${name} ${version}`,
  }
}

/** Of what was copied from a project under the ISC licence. */
function termsOfText(text, texts) {
  return { holders: holders(text), label: texts.label('ISC', text) }
}

function stanza(files, owners, label, comment) {
  return `Files: ${files}\nCopyright: ${owners.join('\n ')}\nLicense: ${label}\nComment: ${comment}\n`
}

/** Licence texts by label: texts that differ only in their holders and line breaks are one. */
class Texts {
  #labels = new Map()
  #texts = new Map()

  label(debian, text) {
    if (debian === 'Apache-2.0') {
      this.#texts.set(
        debian,
        'The text of the Apache License, Version 2.0, is in\n/usr/share/common-licenses/Apache-2.0.',
      )
      return debian
    }
    const body = withoutHolders(text)
    const key = `${debian} ${body.toLowerCase().replace(/[^a-z]+/g, ' ')}`
    const known = this.#labels.get(key)
    if (known !== undefined) return known
    const variants = [...this.#texts.keys()].filter((each) => each === debian || each.startsWith(`${debian}~`)).length
    const label = variants === 0 ? debian : `${debian}~${variants + 1}`
    this.#labels.set(key, label)
    this.#texts.set(label, body)
    return label
  }

  paragraphs() {
    return [...this.#texts].map(([label, text]) => `License: ${label}\n${indented(text)}\n`).join('\n')
  }
}

const holderLine = /^\W*(?:copyright\b.*\d{4}|copyright \(c\)|©|\(c\) \d{4}).*/i

function holders(text) {
  const lines = (text ?? '').split('\n').filter((line) => holderLine.test(line))
  return lines.map((line) =>
    line
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/^\W*(?:copyright)?[\s:]*(?:\(c\)|©)?\s*/i, '')
      .trim(),
  )
}

/** What the licence says, its title and holders left out. */
function withoutHolders(text) {
  return text
    .replace(/\r/g, '')
    .split('\n')
    .filter((line) => !holderLine.test(line))
    .filter(
      (line) =>
        !/^\W*(?:(?:the )?(?:mit|isc|expat|bsd[\w -]*)\W*licen[cs]e|all rights reserved|licen[cs]e|mit licensed?)\W*(?:\(mit\))?\W*$/i.test(
          line,
        ),
    )
    .join('\n')
    .trim()
}

/** As control files want continued lines: a space before each, a dot where one is empty. */
function indented(text) {
  return text
    .split('\n')
    .map((line) => (line.trim() === '' ? ' .' : ` ${line.trimEnd()}`))
    .join('\n')
}
