/** Light or dark: as the system says, until somebody says otherwise; remembered in this browser. */
import { useEffect, useState } from 'preact/hooks'

const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]
const kept = 'lifeboat-theme'

function stored(): Theme {
  try {
    const text = localStorage.getItem(kept)
    return themes.find((theme) => theme === text) ?? 'system'
  } catch {
    // A browser that keeps nothing: the system decides.
    return 'system'
  }
}

export function applyTheme(theme: Theme = stored()): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState(stored)
  useEffect(() => {
    applyTheme(theme)
    try {
      localStorage.setItem(kept, theme)
    } catch {
      // Not remembered, then.
    }
  }, [theme])
  return [theme, () => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system')]
}
