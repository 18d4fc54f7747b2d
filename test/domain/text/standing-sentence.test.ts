/** How an incident stands, in the sentence that daemon and pages share: it counts what it is given and nothing else. */
import { expect, it } from 'vitest'
import { standingSentence, type Standing } from '../../../src/domain/text/standing-sentence.ts'

const running: Standing = {
  ...{ failure: 'host', ended: null, held: null, phase: 'recovering', mode: 'armed', watched: null },
  ...{ instances: 90, outcomes: { recovered: 64, open: 26 }, recoverable: 90 },
}
const returned: Standing = {
  ...running,
  phase: 'closed',
  ended: { outcome: 'returned', message: 'back' },
  instances: 0,
  outcomes: {},
}

it.each<[string, Standing, string]>([
  ['under way', running, 'Carrying out the plan of each instance: 64 of 90 instances recovered, 26 open.'],
  [
    'over',
    { ...running, phase: 'closed', ended: { outcome: 'done', message: '' } },
    'Ended: 64 of 90 instances recovered, 26 open.',
  ],
  ['held', { ...running, held: { message: '5 of 20 hosts are down. Decide' } }, 'Held: 5 of 20 hosts are down.'],
  [
    'back by itself, and watched',
    { ...returned, watched: { message: 'cmp01 is back, and 2 instances are off' } },
    'cmp01 is back, and 2 instances are off.',
  ],
  [
    'of a process, and over',
    { ...returned, failure: 'process', ended: { outcome: 'host-failed', message: 'the host failed as well' } },
    'The host failed as well.',
  ],
  ['back by itself, and nobody looked', returned, 'The host returned: its instances were not checked.'],
])('an incident that is %s', (_how, standing, sentence) => {
  expect(standingSentence(standing)).toBe(sentence)
})
