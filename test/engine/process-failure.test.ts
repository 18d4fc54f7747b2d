/** The shipped workflow for a nova-compute that is down against its expected plans. */
import { describe, expect, it } from 'vitest'
import { checkExpectations } from '../../src/engine/expectations.ts'
import { readShipped, shippedProcesses } from './shipped.ts'

const file = 'tests/process-failure.yaml'

describe('process-failure decides as expected:', () => {
  for (const { name, line, differences } of checkExpectations(readShipped(file), file, shippedProcesses))
    it(`${name} (line ${line})`, () => {
      expect(differences).toEqual([])
    })
})
