/** Nova's three ways to write a time, none of which says so. All take wall-clock milliseconds. */

/** What a database column keeps: whole seconds. MariaDB cuts the rest off (MySQL rounds). */
export function columnSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}

/** Database columns shown as they are: six zeros, no zone. */
export function columnTime(ms: number | null): string | null {
  return ms === null ? null : new Date(columnSeconds(ms)).toISOString().replace('.000Z', '.000000')
}

/** A stamp that was just written and has not been through the database: finer than the same stamp read back. */
export function freshTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000')
}

/** `created` and `updated` of a server. */
export function serverTime(ms: number): string {
  return new Date(columnSeconds(ms)).toISOString().replace('.000Z', 'Z')
}
