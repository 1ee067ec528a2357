// Package config holds the settings of sonde: what they are, where they come
// from (file < environment < flags), and whether they make sense. Only cmd
// imports it.
package config
