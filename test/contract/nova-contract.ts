/**
 * The contract: what Lifeboat relies on in Nova, one sentence each, run against the simulator and against real Nova.
 * A sentence that holds for one and not for the other means that the simulator lies.
 */
import { afterAll, beforeAll, describe } from 'vitest'
import type { CloudUnderTest } from './cloud-under-test.ts'
import { apiSentences } from './api-sentences.ts'
import { evacuationSentences } from './evacuation-sentences.ts'
import { failureSentences } from './failure-sentences.ts'
import { guestSentences } from './guest-sentences.ts'
import { lateConfirmationSentences } from './late-confirmation-sentences.ts'
import { latePowerSentences } from './late-power-sentences.ts'
import { lostResizeSentences } from './lost-resize-sentences.ts'
import { returnSentences } from './return-sentences.ts'
import { serverSentences } from './server-sentences.ts'
import { serviceSentences } from './service-sentences.ts'
import { staleOrderSentences } from './stale-order-sentences.ts'
import { Steps } from './steps.ts'

/** What the sentences share: filled before the first of them runs. */
export interface Scene {
  readonly cloud: CloudUnderTest
  readonly steps: Steps
}

type Sentences = (scene: Scene) => void

const allSentences: Sentences[] = [
  apiSentences,
  serverSentences,
  guestSentences,
  serviceSentences,
  evacuationSentences,
  returnSentences,
  staleOrderSentences,
  lostResizeSentences,
  lateConfirmationSentences,
  latePowerSentences,
  failureSentences,
]

export const withoutGuests = allSentences.filter((sentences) => sentences !== guestSentences)

export function novaContract(
  title: string,
  open: () => Promise<CloudUnderTest>,
  close?: (cloud: CloudUnderTest) => Promise<void>,
  sentences = allSentences,
): void {
  describe(title, () => {
    let cloud: CloudUnderTest | undefined
    let steps: Steps | undefined
    const scene: Scene = {
      get cloud() {
        return cloud!
      },
      get steps() {
        return steps!
      },
    }
    beforeAll(async () => {
      cloud = await open()
      steps = new Steps(cloud)
      await cloud.tidy()
    })
    afterAll(async () => {
      await cloud?.tidy()
      if (cloud !== undefined) await close?.(cloud)
    })
    for (const part of sentences) part(scene)
  })
}
