/**
 * What the mutation tests pass over: words for people. A sentence may be put better without a test being told; a reason
 * code, a kind or a status is one word and stays in. Loaded by stryker.config.mjs.
 */

/** Three words or more: nothing that a decision compares is as long. */
const isSentence = (text) => text.trim().split(/\s+/).length >= 3

/** A sentence that is put together: its facts are counted as words. */
const isMadeSentence = ({ quasis }) => isSentence(quasis.map(({ value }) => value.raw).join('fact'))

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'prose',
    value: {
      shouldIgnore(path) {
        if (path.isStringLiteral() && isSentence(path.node.value)) return 'a sentence for people'
        if (path.isTemplateLiteral() && isMadeSentence(path.node)) return 'a sentence for people'
        return undefined
      },
    },
  },
]
