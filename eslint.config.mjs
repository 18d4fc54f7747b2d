import tseslint from 'typescript-eslint'

const clockOnly = 'Time comes from the Clock port (src/domain/clock.ts), so that tests and the simulator can own it.'
const bannedTime = [
  ...['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval'].map((name) => ({
    name,
    message: clockOnly,
  })),
]
const bannedTimeMembers = [
  { object: 'Date', property: 'now', message: clockOnly },
  { object: 'performance', property: 'now', message: clockOnly },
  { object: 'AbortSignal', property: 'timeout', message: clockOnly },
]

export default tseslint.config(
  { ignores: ['dist', 'node_modules', 'test/lab', 'coverage', '.stryker'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      // Named one by one: faster than a service that looks for each file's own.
      parserOptions: {
        project: ['tsconfig.json', 'src/web/tsconfig.json', 'test/web/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowNullish: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      '@typescript-eslint/no-non-null-assertion': 'error',
      // A third of the time, and nothing to find: there are no enums (erasableSyntaxOnly), and classes with #private members
      // take no look-alikes.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      'no-console': 'error',
      eqeqeq: ['error', 'always'],
    },
  },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx'],
    ignores: ['src/daemon/system-clock.ts', 'src/web/browser-clock.ts'],
    rules: {
      'no-restricted-globals': ['error', ...bannedTime],
      'no-restricted-properties': ['error', ...bannedTimeMembers],
      'no-restricted-syntax': [
        'error',
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: clockOnly },
        { selector: 'ImportDeclaration[source.value=/^(node:)?timers/]', message: clockOnly },
      ],
    },
  },
  {
    // Tests read raw JSON of clouds; what it holds is what they assert.
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/unbound-method': 'off',
      'no-console': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
  { files: ['**/*.mjs', '**/*.cjs'], ...tseslint.configs.disableTypeChecked },
)
