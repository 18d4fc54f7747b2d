/** Whole numbers on the command line. */
import { InvalidArgumentError } from 'commander'

/** Of the lines of a table: beyond it is a slip of the finger. */
const usualMost = 999_999

/** What commander takes for a value from `least` to `most`. */
export function wholeNumber(least: number, most = usualMost): (text: string) => number {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : NaN
    if (number >= least && number <= most) return number
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }
}
