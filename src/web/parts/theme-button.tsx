/** Light, dark or as the system says, by hand. */
import { useState } from 'preact/hooks'
import { appliedTheme, applyTheme, keepTheme, themeAfter } from './theme.ts'

export function ThemeButton() {
  const [theme, setTheme] = useState(appliedTheme)
  const change = (): void => {
    const next = themeAfter(theme)
    applyTheme(next)
    keepTheme(next)
    setTheme(next)
  }
  return (
    <button
      type="button"
      class="quiet"
      onClick={change}
      aria-label={`Theme: ${theme}. Change it`}
      title={`Theme: ${theme}`}
    >
      <svg class="theme-icon" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6.25" />
        <path d={theme === 'light' ? '' : 'M8 1.75a6.25 6.25 0 010 12.5z'} class={theme} />
      </svg>
    </button>
  )
}
