import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;

/**
 * A system class loader with jars that nobody can list: java -Djava.system.class.loader=Apart -Dapart.jars=DIRECTORY MAIN ARGUMENT...
 *
 * Beam's job server for Flink sends all jars that it finds in its class path to the cluster with each job. A cluster that has them
 * already needs none of them.
 */
public final class Apart extends ClassLoader {
  private final ClassLoader jars;

  public Apart(ClassLoader parent) throws IOException {
    super(parent);
    List<URL> urls = new ArrayList<>();
    try (DirectoryStream<Path> list = Files.newDirectoryStream(Path.of(System.getProperty("apart.jars")), "*.jar")) {
      for (Path jar : list) {
        urls.add(jar.toUri().toURL());
      }
    }
    jars = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    byte[] code;
    try (InputStream in = jars.getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      code = in.readAllBytes();
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
    return defineClass(name, code, 0, code.length);
  }

  @Override
  protected URL findResource(String name) {
    return jars.getResource(name);
  }

  @Override
  protected Enumeration<URL> findResources(String name) throws IOException {
    return jars.getResources(name);
  }
}
