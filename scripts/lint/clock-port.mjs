/** A rule of ours for the linter: `new Date()` reads the machine's clock, which only the Clock port may do. */
const message = 'Time comes from the Clock port (src/domain/clock.ts), so that tests and the simulator can own it.'

export default {
  meta: { name: 'lifeboat' },
  rules: {
    'no-ambient-date': {
      create: (context) => ({
        NewExpression(node) {
          if (node.callee.type === 'Identifier' && node.callee.name === 'Date' && node.arguments.length === 0)
            context.report({ node, message })
        },
      }),
    },
  },
}
