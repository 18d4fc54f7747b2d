/** Light or dark: as the system says, until someone says otherwise; remembered in this browser. */
const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]
const kept = 'lifeboat-theme'

/** Costs milliseconds, for the browser asks another process of its own: once a page. */
export function keptTheme(): Theme {
  try {
    const text = localStorage.getItem(kept)
    return themes.find((theme) => theme === text) ?? 'system'
  } catch {
    // A browser that keeps nothing: the system decides.
    return 'system'
  }
}

export function keepTheme(theme: Theme): void {
  try {
    localStorage.setItem(kept, theme)
  } catch {
    // Not remembered, then.
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export function appliedTheme(): Theme {
  return themes.find((theme) => theme === document.documentElement.dataset['theme']) ?? 'system'
}

export function themeAfter(theme: Theme): Theme {
  return themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system'
}
