/** The tenure's row as this daemon sees it change. Owns since when it is as it is, by our clock: no time of another machine is compared with ours. */
import type { TenureRow } from './store.ts'

export class SeenTenure {
  #row: TenureRow | null = null
  #since = 0
  #renews = false

  /** As of the last look; null before the first. */
  get row(): TenureRow | null {
    return this.#row
  }

  /** Since when its holder, epoch and beat are as they are; the moment in which they were seen first. */
  get unchangedSince(): number {
    return this.#since
  }

  /** We have seen its holder renew it: that process was alive then, whoever it is. */
  get renews(): boolean {
    return this.#renews
  }

  see(row: TenureRow, now: number): void {
    const isSameTenure = this.#row?.holder === row.holder && this.#row.epoch === row.epoch
    const isSame = isSameTenure && this.#row?.beat === row.beat
    if (!isSame) this.#since = now
    if (!isSameTenure) this.#renews = false
    else if (!isSame) this.#renews = true
    this.#row = row
  }
}
