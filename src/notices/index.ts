/** Notices, as everything outside this directory sees them. */
export { type Deliver, type Ended, type Renewal } from './delivery.ts'
export { NoticeService } from './notice-service.ts'
export { reach } from './reach.ts'
export { receiver, type ReceiverSettings, type ReceiverSurroundings } from './receiver.ts'
export { type NoticeRules } from './rules.ts'
export { type RunSendmail } from './sendmail.ts'
export { sendTest } from './send-test.ts'
export { english, templateProblem, variables, variablesOf, type Texts } from './texts.ts'
