/** The icons, of Lucide 1.62.0 (ISC; lucide.LICENSE.txt). Each stands beside a word, or is explained by its title. */

const paths = {
  check: ['M20 6 9 17l-5-5'],
  cross: ['M18 6 6 18', 'm6 6 12 12'],
  alert: ['m21.73 18-8-14a2 2 0 0 0-3.48 0l-8 14A2 2 0 0 0 4 21h16a2 2 0 0 0 1.73-3', 'M12 9v4', 'M12 17h.01'],
  person: ['M19 21v-2a4 4 0 0 0-4-4H9a4 4 0 0 0-4 4v2', 'M16 7a4 4 0 1 1-8 0 4 4 0 0 1 8 0'],
  dot: ['M12 12h.01'],
  right: ['m9 18 6-6-6-6'],
  down: ['m6 9 6 6 6-6'],
  wrench: [
    'M14.7 6.3a1 1 0 0 0 0 1.4l1.6 1.6a1 1 0 0 0 1.4 0l3.106-3.105c.32-.322.863-.22.983.218a6 6 0 0 1-8.259 7.057l-7.91 7.91a1 1 0 0 1-2.999-3l7.91-7.91a6 6 0 0 1 7.057-8.259c.438.12.54.662.219.984z',
  ],
  pause: ['M15 4h3v16h-3z', 'M6 4h3v16H6z'],
  copy: [
    'M10 8h10a2 2 0 0 1 2 2v10a2 2 0 0 1-2 2H10a2 2 0 0 1-2-2V10a2 2 0 0 1 2-2z',
    'M4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2',
  ],
} as const

export type IconName = keyof typeof paths

/** Seen only: what it means stands in words. */
export function Icon({ name, kind = '' }: { name: IconName; kind?: string }) {
  return (
    <svg class={`icon ${name} ${kind}`} viewBox="0 0 24 24" aria-hidden="true">
      {paths[name].map((path) => (
        <path key={path} d={path} />
      ))}
    </svg>
  )
}
