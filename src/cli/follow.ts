/**
 * One incident, followed to its end: a bar with the steps under way on a terminal, one plain line per event in a pipe. The
 * exit code says how it ended. It reads what `incident show` reads: a daemon that restarts meanwhile is no matter.
 */
import stringWidth from 'string-width'
import type { IncidentDetail, InstanceSummary } from '../domain/operations.ts'
import { hideCursor, redrawn, showCursor } from './output/drawing.ts'
import { printable } from './output/width.ts'
import type { Paint } from './output/words.ts'
import { cutLine } from './output/wrap.ts'
import { InterruptibleWait } from './interruptible-wait.ts'
import type { Session } from './session.ts'
import { passing } from './watch.ts'
import { between, span } from '../domain/text/span.ts'
import { standing } from '../domain/text/tone.ts'
import { clockTime, tally } from './wording.ts'

/** Steps last seconds. Slower, and short ones are never seen; quicker, and a big incident is read for nothing. */
const lookEveryMs = 1000
/** Steps under way that are shown; the rest is counted. */
const stepsShown = 8
/** A bar must be seen to move, and leave room for the numbers. */
const barWidth = { least: 10, most: 50 }

/** For the reference page. */
export const followExits = {
  0: 'with --follow: it ended, and every instance to be recovered is back',
  1: 'with --follow: it was cancelled, or instances failed or are stuck',
  130: 'with --follow: interrupted before it ended',
}

/** Follows it until it is over or someone interrupts, and sets the exit code. */
export async function follow(session: Session, id: string): Promise<void> {
  const { terminal } = session
  const look = (): Promise<IncidentDetail> => session.record().incident(id)
  // Before the cursor is hidden: a wrong name is only said.
  let incident = await look()
  const waiting = new InterruptibleWait(session)
  const teller = terminal.screen === null ? lineTeller(session) : barTeller(session)
  try {
    teller.tell(incident, null)
    while (incident.ended === null && (await waiting.pause(lookEveryMs))) {
      let problem: string | null = null
      try {
        incident = await look()
      } catch (thrown) {
        problem = passing(thrown)
      }
      teller.tell(incident, problem)
    }
  } finally {
    waiting.close()
    teller.end()
  }
  if (incident.ended === null) {
    terminal.stderr(
      `lifeboat: stopped following; the incident goes on: lifeboat incident show ${printable(id)} --follow\n`,
    )
    session.endsAs('interrupted')
  } else if (!endedWell(incident)) session.endsAs('failed')
}

/** Nothing that was to be recovered was left behind. */
export function endedWell({ ended, outcomes }: IncidentDetail): boolean {
  return ended?.outcome !== 'cancelled' && (outcomes.failed ?? 0) + (outcomes.stuck ?? 0) === 0
}

interface Teller {
  /** `problem`: why this is not the present. */
  tell(incident: IncidentDetail, problem: string | null): void
  end(): void
}

function lineTeller({ terminal, commands }: Session): Teller {
  const said = new Set<string>()
  const say = (text: string): void => {
    if (said.has(text)) return
    said.add(text)
    terminal.stdout(`${new Date(commands.clock.wall()).toISOString()} ${printable(text)}\n`)
  }
  let troubled = false
  return {
    tell: (incident, problem) => {
      if (problem !== null) {
        if (!troubled) terminal.stderr(`${printable(problem)}; still trying\n`)
        troubled = true
        return
      }
      troubled = false
      say(titleOf(incident))
      if (incident.held !== null) say(`held: ${incident.held.message}`)
      if (incident.fencing !== null) say(`fencing: ${incident.fencing}`)
      if (incident.proof !== null) say(`proven dead by ${incident.proof.method} (${incident.proof.strength})`)
      if (incident.ended === null) say(`phase ${incident.phase}`)
      for (const instance of incident.instanceList) if (instance.outcome !== null) say(endOf(instance))
      if (incident.ended !== null) say(closingOf(incident))
    },
    end: () => undefined,
  }
}

function barTeller({ terminal, commands }: Session): Teller {
  const { paint } = terminal
  const ascii = !/utf-?8/i.test(terminal.env['LC_ALL'] || terminal.env['LC_CTYPE'] || terminal.env['LANG'] || '')
  let drawn = 0
  terminal.stdout(hideCursor)
  return {
    tell: (incident, problem) => {
      const { columns, rows } = terminal.screen?.size() ?? { columns: 80, rows: 24 }
      const now = new Date(commands.clock.wall()).toISOString()
      const lines = progressLines(incident, { now, columns: columns - 1, rows: rows - 1, paint, ascii })
      if (problem !== null) lines.push(paint('wait', cutLine(`${printable(problem)}; still trying`, columns - 1)))
      terminal.stdout(redrawn(lines, drawn))
      drawn = lines.length
    },
    end: () => terminal.stdout(showCursor),
  }
}

interface Look {
  now: string
  /** Of the screen. No line is longer: a wrapped one could not be drawn over. */
  columns: number
  rows: number
  paint: Paint
  ascii: boolean
}

/** The incident in a few lines: what it is, how far, and what is under way. */
export function progressLines(incident: IncidentDetail, { now, columns, rows, paint, ascii }: Look): string[] {
  const cut = (text: string): string => cutLine(printable(text), columns)
  const { outcomes, instances, ended, held } = incident
  const done = instances - (outcomes.open ?? 0)
  const lines = [paint('strong', cut(titleOf(incident)))]
  const bad = (outcomes.failed ?? 0) + (outcomes.stuck ?? 0) > 0
  if (instances > 0 && incident.mode === 'armed') {
    const numbers = ` ${done}/${instances}  ${tally(outcomes)}`
    const width = Math.min(barWidth.most, columns - stringWidth(numbers) - 2)
    const tone = bad ? 'bad' : 'good'
    if (width >= barWidth.least)
      lines.push(bar(done / instances, width, (text) => paint(tone, text), ascii) + cut(numbers))
    else lines.push(cut(numbers.trim()))
  }
  if (ended !== null) return [...lines, paint(endedWell(incident) ? 'good' : 'bad', cut(closingOf(incident)))]
  lines.push(cut(`${incident.phase}, ${between(incident.openedAt, now)} since it was opened`))
  if (held !== null) lines.push(paint(standing(incident).tone, cut(`held: ${held.message}`)))
  if (incident.fencing !== null) lines.push(cut(`fencing: ${incident.fencing}`))
  const under = incident.instanceList.flatMap((instance) => stepLine(instance, now))
  const room = Math.max(0, Math.min(stepsShown, rows - lines.length - 1))
  lines.push(...under.slice(0, room).map(cut))
  if (under.length > room) lines.push(paint('faint', cut(`  and ${under.length - room} more under way`)))
  return lines
}

function bar(share: number, width: number, paint: (text: string) => string, ascii: boolean): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width)
  const [on, off] = ascii ? ['#', '.'] : ['█', '░']
  return ascii
    ? `[${paint(on.repeat(full))}${off.repeat(width - full)}]`
    : ` ${paint(on.repeat(full))}${off.repeat(width - full)} `
}

function stepLine({ name, outcome, steps }: InstanceSummary, now: string): string[] {
  const step = steps.at(-1)
  if (outcome !== null || step === undefined) return []
  const again = step.attempt > 1 ? `, try ${step.attempt}` : ''
  const until = step.waitsUntil ?? null
  const waits = until === null ? '' : `, Nova may still carry it out until ${clockTime(until)}`
  return [`  ${name}  ${step.kind} ${step.status}${again}  ${between(step.intendedAt, now)}${waits}`]
}

function titleOf({ id, host, segment, mode }: IncidentDetail): string {
  return `incident ${id}: ${host} (segment ${segment})${mode === 'observe' ? ', observe: nothing is sent' : ''}`
}

function endOf({ name, outcome }: InstanceSummary): string {
  if (outcome === null) return name
  const where = outcome.after?.host === undefined || outcome.after.host === null ? '' : ` on ${outcome.after.host}`
  return `${name}: ${outcome.outcome}${where} (${outcome.code}) ${outcome.message}`
}

function closingOf({ ended, openedAt, outcomes, mode }: IncidentDetail): string {
  if (ended === null) return ''
  const counts = mode === 'observe' ? '' : tally(outcomes)
  const took = span(Date.parse(ended.at) - Date.parse(openedAt))
  return `${ended.outcome} at ${clockTime(ended.at)} after ${took}: ${ended.message}${counts === '' ? '' : ` (${counts})`}`
}
