/** What is said of a host that is back until Nova has shown which of its guests are off. */
export function backAndUnknown(host: string): string {
  return `${host} is back; which of its instances are off is being found out`
}
