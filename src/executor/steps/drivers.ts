/** Every step kind with its driver. */
import type { StepKind } from '../../domain/plan.ts'
import type { StepDriver } from '../step-driver.ts'
import { confirmResize } from './confirm-resize.ts'
import { evacuate } from './evacuate.ts'
import { lock, resetState, unlock } from './marks.ts'
import { start, stop } from './power.ts'
import { reboot } from './reboot.ts'

export const drivers: { [K in StepKind]: StepDriver<K> } = {
  lock,
  unlock,
  'reset-state': resetState,
  'confirm-resize': confirmResize,
  evacuate,
  start,
  stop,
  reboot,
}
